#include "mpiio/prefetch/prefetch_policy.h"

static bool wait_for_one(struct prefetch_policy *policy)
{
    if (!policy->has_waiting && !policy->at_end) {
        policy->has_waiting = policy->source.next(policy->source.self, &policy->waiting);
        policy->at_end = !policy->has_waiting;
    }
    return policy->has_waiting;
}

/* Until `ahead` ranges are fetched, or the storage takes no more. */
static void fetch_more(struct prefetch_policy *policy)
{
    while (policy->count < policy->ahead && wait_for_one(policy)) {
        policy->counts.asked++;
        if (!policy->storage.fetch(policy->storage.self, &policy->waiting))
            return;
        policy->counts.accepted++;
        policy->fetched[(policy->first + policy->count++) % PREFETCH_AHEAD_MOST] = policy->waiting;
        policy->has_waiting = false;
    }
}

static void begin_round(struct prefetch_policy *policy)
{
    fetch_more(policy);
    policy->allowed = policy->count < 1 ? 1 : policy->count < policy->together ? policy->count : policy->together;
    policy->accessed = policy->judged = policy->hits = 0;
    policy->began_ns = policy->storage.now_ns(policy->storage.self);
}

static void release(struct prefetch_policy *policy, const struct prefetch_range *range)
{
    policy->counts.released += policy->storage.release(policy->storage.self, range);
}

static void adapt(struct prefetch_policy *policy)
{
    if (policy->judged == 0)
        return;
    const int64_t each_ns = (policy->storage.now_ns(policy->storage.self) - policy->began_ns) / policy->accessed;
    if (policy->hits * 2 < policy->judged)
        policy->ahead = policy->ahead * 2 < PREFETCH_AHEAD_MOST ? policy->ahead * 2 : PREFETCH_AHEAD_MOST;
    else if (policy->hits == policy->judged && each_ns < PREFETCH_FAST_NS && policy->ahead > policy->together)
        policy->ahead--;
}

static void end_round(struct prefetch_policy *policy)
{
    for (int i = 0; i < policy->used_count; i++)
        release(policy, &policy->used[i]);
    policy->used_count = 0;
    adapt(policy);
}

/* The next range that has not been accessed: the first of those that are fetched, else one that is not. */
static bool peek(struct prefetch_policy *policy, struct prefetch_range *ret_range, bool *ret_fetched)
{
    *ret_fetched = policy->count > 0;
    if (!*ret_fetched && !wait_for_one(policy))
        return false;
    *ret_range = *ret_fetched ? policy->fetched[policy->first] : policy->waiting;
    return true;
}

static void use(struct prefetch_policy *policy, const struct prefetch_range *range, bool fetched)
{
    policy->accessed++;
    policy->used_end = range->end;
    if (!fetched) {
        policy->has_waiting = false;
        return;
    }
    policy->first = (policy->first + 1) % PREFETCH_AHEAD_MOST;
    policy->count--;
    const bool hit = policy->storage.is_there(policy->storage.self, range);
    policy->judged++;
    policy->hits += hit;
    policy->counts.hit += hit;
    if (policy->used_count < PREFETCH_AHEAD_MOST) /* else it is left to the system: it may not be given back yet */
        policy->used[policy->used_count++] = *range;
}

void prefetch_policy_begin(struct prefetch_policy *policy, const struct prefetch_storage *storage,
                           const struct prefetch_source *source, int ahead, int together)
{
    *policy = (struct prefetch_policy){
        .storage = *storage, .source = *source, .together = together, .ahead = ahead > together ? ahead : together};
    begin_round(policy);
}

void prefetch_policy_reach(struct prefetch_policy *policy, int64_t begin, int64_t end)
{
    struct prefetch_range range;
    bool fetched;
    if (policy->accessed >= policy->allowed && begin >= policy->used_end) {
        end_round(policy);
        begin_round(policy);
    }
    while (peek(policy, &range, &fetched) && range.begin < end)
        use(policy, &range, fetched);
}

void prefetch_policy_end(struct prefetch_policy *policy)
{
    end_round(policy);
    for (; policy->count > 0; policy->count--) {
        release(policy, &policy->fetched[policy->first]);
        policy->first = (policy->first + 1) % PREFETCH_AHEAD_MOST;
    }
}
