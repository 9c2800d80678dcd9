# Completion of the program @program@ of gpucsr in bash. The makefile inserts the program's table of options: name, kind and value.
_gpucsr_@program@()
{
  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} names=() name kind values candidates=
  while IFS=$'\t' read -r name kind values; do
    names+=("$name")
    if [ "$name" = "$before" ]; then
      case $kind in
        6) candidates=${values//|/ } ;; # a choice
        7 | 8) compopt -o filenames; mapfile -t COMPREPLY < <(compgen -f -- "$word"); return ;;
        0) ;;
        *) COMPREPLY=(); return ;; # a number or a text
      esac
    fi
  done <<'OPTIONS'
@options@
OPTIONS
  [ -n "$candidates" ] || candidates="${names[*]} -help -log_view -options_left -dll_append -info --help --version --help-man --help-options"
  mapfile -t COMPREPLY < <(compgen -W "$candidates" -- "$word")
}
complete -F _gpucsr_@program@ @program@
