# shellcheck shell=bash
# Knows the options of asterope-tune before it is built, so that a misspelt one costs nobody a build.
# Sourced by scripts/tune, never run; needs setup.sh.

declare -A option_value # "COMMAND NAME" -> "=" where it takes a value, else empty
declare -A option_words # the same -> the words that the value may be, where it is one of these
declare -A is_command   # the commands of asterope-tune

# A COMMAND of - stands for none.
read_option_list() {
    local command fields name value words
    while read -r command fields; do
        [[ $command != '#' ]] || continue
        [[ $command == - ]] || is_command[$command]=true
        value='' words=''
        if [[ $fields == *' ='* ]]; then
            value='='
            words=${fields#* =}
            fields=${fields%% =*}
        fi
        for name in $fields; do
            option_value["$command $name"]=$value
            option_words["$command $name"]=${words# }
        done
    done <"$root/scripts/tune-options"
}

# letters_apart A B: how many letters must be changed, put in or left out to make B of A.
letters_apart() {
    local a=$1 b=$2 i j diagonal above least row=()
    for ((j = 0; j <= ${#b}; ++j)); do row[j]=$j; done
    for ((i = 1; i <= ${#a}; ++i)); do
        diagonal=${row[0]}
        row[0]=$i
        for ((j = 1; j <= ${#b}; ++j)); do
            above=${row[j]}
            least=$diagonal
            [[ ${a:i-1:1} == "${b:j-1:1}" ]] || least=$((least + 1))
            ((least <= above + 1)) || least=$((above + 1))
            ((least <= row[j - 1] + 1)) || least=$((row[j - 1] + 1))
            diagonal=$above
            row[j]=$least
        done
    done
    printf '%s\n' "${row[${#b}]}"
}

# nearest WORD KNOWN...: the known word that WORD may be meant to be; nothing where none is near, by
# the rule of tuner/base/text.hpp.
nearest() {
    local word=${1:0:100} known letters apart found='' least=0
    shift
    for known in "$@"; do
        letters=${known#-}
        letters=${letters#-}
        apart=$(letters_apart "$word" "$known")
        ((3 * apart <= ${#letters})) || continue
        [[ -z $found ]] || ((apart < least)) || continue
        found=$known
        least=$apart
    done
    printf '%s\n' "$found"
}

# hint WORD KNOWN...: " (did you mean KNOWN?)", or nothing.
hint() {
    local meant
    meant=$(nearest "$@")
    [[ -z $meant ]] || printf ' (did you mean %s?)' "$meant"
}

# require_option COMMAND NAME OWN...: ends the script where there is no such option. OWN: those of
# the script itself.
require_option() {
    local command=$1 name=$2 key known=()
    shift 2
    [[ -z ${option_value["$command $name"]+there} ]] || return 0
    for key in "${!option_value[@]}"; do
        [[ ${key% *} != "$command" ]] || known+=("${key#* }")
    done
    mapfile -t known < <(printf '%s\n' "${known[@]}" "$@" | sort) # the table has no order
    die 2 "there is no option $name$(hint "$name" "${known[@]}"): see scripts/tune --help"
}

# require_word COMMAND NAME VALUE: ends the script where the option takes one of some words, and the
# value is none of them.
require_word() {
    local words word
    [[ $3 != *=* ]] || return 0 # a mix of them, for the tool to read
    read -ra words <<<"${option_words["$1 $2"]}"
    for word in "${words[@]}"; do
        [[ $3 != "$word" ]] || return 0
    done
    ((${#words[@]} == 0)) ||
        die 2 "$2: there is no $3$(hint "$3" "${words[@]}"): choose of ${words[*]}"
}

# What is written in one form, loosely: the tool knows it better, but only once it is built.
declare -A option_form=(
    [--time-budget]='^[0-9.]+[smh]$' [--sizes]='^[0-9]+[KMG]?(,[0-9]+[KMG]?)*$'
    [--operations]='^memcpy(,memset)?$' [--reference]='^[^=]+=.'
    [--cpu]='^-?[0-9]+$' [--seed]='^[0-9]+$' [--threads]='^[0-9]+$'
)
declare -A form_example=(
    [--time-budget]=10m [--sizes]=128,8K,32M [--operations]=memcpy,memset
    [--reference]=new=./libcopies.so [--cpu]=1 [--seed]=1 [--threads]=2
)

# require_form NAME VALUE: ends the script where the option's value cannot be meant as such.
require_form() {
    local form=${option_form[$1]:-}
    [[ -z $form || $2 =~ $form ]] || die 2 "$1 $2: write it as in $1 ${form_example[$1]}"
    case $1 in
        --recording | --places) require_file "$1" "$2" ;;
    esac
}

# require_file WHAT FILE
require_file() { [[ -e $2 ]] || die 2 "$1 $2: there is no such file"; }

# require_command WORD: ends the script where that is no command of asterope-tune.
require_command() {
    local known
    [[ -z ${is_command[$1]:-} ]] || return 0
    mapfile -t known < <(printf '%s\n' "${!is_command[@]}" | sort)
    die 2 "there is no command $1$(hint "$1" "${known[@]}"): see scripts/tune --help"
}
