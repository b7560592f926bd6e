// Checks of data that somebody else wrote. A check gives back what it was given as a value of its type, or throws
// Damaged with the place. Types are made from checks (Of<typeof check>), so that the two cannot differ.

export type Check<T> = (value: unknown, place: string) => T;
export type Of<C> = C extends Check<infer T> ? T : never;
export type Scalar = string | number | boolean | null;

export class Damaged extends Error {}

export function refuse(place: string, wanted: string): never {
  throw new Damaged(`${place} is not ${wanted}`);
}

export const text: Check<string> = (value, place) => (typeof value === "string" ? value : refuse(place, "a text"));

export const flag: Check<boolean> = (value, place) => (typeof value === "boolean" ? value : refuse(place, "yes or no"));

export const count: Check<number> = (value, place) =>
  Number.isSafeInteger(value) ? (value as number) : refuse(place, "a whole number");

/** JSON has no NaN: what could not be computed is null there, and NaN here. */
export const real: Check<number> = (value, place) =>
  value === null || value === undefined ? NaN : typeof value === "number" ? value : refuse(place, "a number");

export const scalar: Check<Scalar> = (value, place) =>
  value === null || ["string", "number", "boolean"].includes(typeof value)
    ? (value as Scalar)
    : refuse(place, "a text or a number");

/** A text, or what can be shown as one. */
export const words: Check<string> = (value, place) => String(scalar(value ?? "", place) ?? "");

export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

export function optional<T>(check: Check<T>): Check<T | undefined> {
  return (value, place) => (value === undefined || value === null ? undefined : check(value, place));
}

/** For parts that older files do not have. */
export function either<T>(check: Check<T>, otherwise: () => T): Check<T> {
  return (value, place) => (value === undefined ? otherwise() : check(value, place));
}

export function list<T>(check: Check<T>): Check<T[]> {
  return (value, place) =>
    Array.isArray(value) ? value.map((item, i) => check(item, `${place}[${i}]`)) : refuse(place, "a list");
}

/** A row of values; more than these are left out. */
export function row<T extends unknown[]>(...checks: { [K in keyof T]: Check<T[K]> }): Check<T> {
  return (value, place) =>
    Array.isArray(value) && value.length >= checks.length
      ? (checks.map((check: Check<unknown>, i) => check(value[i], `${place}[${i}]`)) as T)
      : refuse(place, `a row of ${checks.length}`);
}

type Shape = Record<string, Check<unknown>>;
type Shaped<S extends Shape> = { [K in keyof S]: Of<S[K]> };

/** An object with these members; others are left out. */
export function record<S extends Shape>(shape: S): Check<Shaped<S>> {
  const members = Object.entries(shape);
  return (value, place) => {
    if (!isObject(value)) refuse(place, "an object");
    return Object.fromEntries(members.map(([key, check]) => [key, check(value[key], `${place}.${key}`)])) as Shaped<S>;
  };
}

/** An object whose members have names that nobody knows. */
export function members<T>(check: Check<T>): Check<Map<string, T>> {
  return (value, place) =>
    isObject(value)
      ? new Map(Object.entries(value).map(([key, item]) => [key, check(item, `${place}.${key}`)]))
      : refuse(place, "an object");
}
