"""Assembly text as C has it: string literals of an asm statement, or a macro of such."""

from __future__ import annotations

# The longest line of assembly in the C files.
_LINE = 100


def as_c_strings(assembly: str) -> str:
    """Assembly text as the string literals of an asm statement; `//` lines become C comments, and
    `@NAME` stands for more such literals, those of a C macro.

    Neighbouring instructions of one kind, such as the loads of a stage, share a line.
    """
    lines: list[str] = []
    kind = ""  # of the instructions in the last line
    for line in filter(None, map(str.strip, assembly.splitlines())):
        before, kind = kind, line.split()[0]
        if line.startswith("//"):
            lines.append(f"    /* {line[2:].strip()} */")
        elif line.startswith("@"):
            lines.append(f"    {line[1:]}")
        elif line.endswith(":"):
            lines.append(f'  "{line}\\n"')
        elif kind == before and len(lines[-1]) + len(line) + 2 <= _LINE:
            lines[-1] = f'{lines[-1][:-3]}; {line}\\n"'
        else:
            lines.append(f'    "{line}\\n"')
    return "\n".join(lines)


def as_c_macro(assembly: str, name: str) -> str:
    """The same as a macro of C, for assembly that stands in several functions."""
    return f"#define {name} \\\n" + as_c_strings(assembly).replace("\n", " \\\n")
