#!/bin/sh
# build.sh NODE NPM SOURCE WORK PAGE: installs the packages of the lockfile into WORK and builds PAGE.
# Always ends well: a build without a network, or with a Node.js that is too old, has no page and goes on.
node=$1 npm=$2 source=$3 work=$4 page=$5

give_up()
{
    rm -f "$page"
    echo "piolet: no page with charts: $1 (log: $work/page.log)"
    exit 0
}

mkdir -p "$work" "$(dirname "$page")"
cd "$work" || exit 0
rm -rf src
cp -R "$source/src" "$source/build.mjs" "$source/package.json" "$source/package-lock.json" "$source/tsconfig.json" . ||
    give_up "its sources cannot be copied"
if ! cmp -s package-lock.json node_modules/.installed; then
    "$npm" ci --omit=dev --no-audit --no-fund --prefer-offline --fetch-retries=1 --fetch-timeout=20000 >page.log 2>&1 ||
        give_up "npm could not install what it needs; is there a network?"
    cp package-lock.json node_modules/.installed
fi
"$node" build.mjs "$page.part" >page.log 2>&1 || give_up "esbuild failed"
mv "$page.part" "$page"
