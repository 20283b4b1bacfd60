#!/usr/bin/env bash
# Plants each mutant of list.txt (or those named) in a copy of the sources, one at a time, and runs
# the test that must notice it: `bash tests/mutants/run.sh [NAME …]`. The copy and what is built
# from it live in target/mutants. Exits with 1 where a mutant survives or cannot be judged.
set -uo pipefail
cd "$(dirname "$0")/../.."

tree=$PWD/target/mutants/tree
export CARGO_TARGET_DIR=$PWD/target/mutants/target CARGO_TERM_COLOR=never INSTA_UPDATE=no
wanted=" $* "
bad=0

copy_tree() {
    rm -rf "$tree" && mkdir -p "$tree"
    git ls-files -z | xargs -0 cp --parents -t "$tree"
    # What is built of dependencies already need not be built again.
    if [ -d target/debug ] && [ ! -d "$CARGO_TARGET_DIR" ]; then
        mkdir -p "$CARGO_TARGET_DIR/debug"
        cp -a target/debug/{build,deps,.fingerprint} "$CARGO_TARGET_DIR/debug"
    fi
}

# Calls `$1 name file old new test` for each mutant wanted.
each() {
    local what=$1 line name='' file='' old='' new='' test=''
    while IFS= read -r line || [ -n "$line" ]; do
        case $line in
            '#'* | 'shows: '* | '+') ;;
            'file: '*) file=${line#file: } ;;
            'test: '*) test=${line#test: } ;;
            '- '*) old+=${old:+$'\n'}${line#- } ;;
            '+ '*) new+=${new:+$'\n'}${line#+ } ;;
            '') [ -z "$name" ] || case $wanted in
                '  ' | *" $name "*) "$what" "$name" "$file" "$old" "$new" "$test" ;;
            esac
                name='' file='' old='' new='' test='' ;;
            *) name=$line ;;
        esac
    done < <(cat tests/mutants/list.txt && echo)
}

# Runs the one test that the arguments name; what it prints is in `out`, how it ends in `code`.
run_test() {
    local words
    read -ra words <<<"$1"
    out=$(cd "$tree" && timeout 900 cargo test -q "${words[@]::${#words[@]}-1}" -- \
        --exact "${words[-1]}" 2>&1 </dev/null)
    code=$?
}

# Without the mutant the test must pass: else its failure would tell nothing.
healthy() {
    local name=$1 test=$5
    [ "${tested[$test]:-}" ] && return
    tested[$test]=yes
    run_test "$test"
    if [ "$code" != 0 ] || [[ $out != *" 1 passed"* ]]; then
        printf '%-36s its test does not pass without it\n%s\n' "$name" "$out"
        bad=1
    fi
}

judge() {
    local name=$1 file=$2 old=$3 new=$4 test=$5 text verdict
    text=$(cat "$file" && printf .)
    printf %s "${text%.}" >"$tree/$file"
    if [[ $text != *"$old"* ]]; then
        verdict='DOES NOT APPLY'
    else
        text=${text/"$old"/"$new"}
        printf %s "${text%.}" >"$tree/$file"
        run_test "$test"
        case $code:$out in
            0:*) verdict=SURVIVED ;;
            124:* | *'test result: FAILED'* | *'process abort'*) verdict=killed ;;
            *) verdict="DOES NOT BUILD"$'\n'"$out" ;;
        esac
        # Written, not copied with its time: what was built from the mutant must look older.
        cat "$file" >"$tree/$file"
    fi
    printf '%-36s %s\n' "$name" "$verdict"
    [ "$verdict" = killed ] || bad=1
}

declare -A tested
copy_tree
each healthy
each judge
exit "$bad"
