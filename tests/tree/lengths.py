"""How long files and functions are. Tables of data are as long as they are."""

import ast
import re

FILE_LINES_MAX = 800
FUNCTION_LINES_MAX = 100
# Files that are one table.
TABLES = {"common/report/catalogue.cpp"}

# What a brace may not be read from, then braces and what ends a statement.
TOKEN = re.compile(
    r'//[^\n]*|/\*.*?\*/|(?:^|(?<=\n))[ \t]*#(?:\\\n|[^\n])*'
    r'|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|[{};\n]',
    re.DOTALL,
)
CONTROL = re.compile(
    r"(?:else|if|for|while|switch|do|try|catch|(?:inline\s+)?namespace)\b|extern\s*\""
)
TYPE = re.compile(
    r"(?:template\s*<.*>\s*)?(?:[a-z]+\s+)*(?:class|struct|enum|union)\b[^()]*$", re.DOTALL
)
BEHIND_PARAMETERS = re.compile(
    r"\s*(?:(?:\b(?:const|noexcept|override|final|mutable)\b|->[^(){};]*)\s*)+$"
)


def opens_function(head):
    """Whether the brace behind `head`, the text of a statement so far, opens a function's body."""
    behind_initialisers = head.endswith("}") and re.search(r"\)\s*:", head)
    return BEHIND_PARAMETERS.sub("", head).endswith(")") or bool(behind_initialisers)


def functions_of_cpp(text):
    """(first line, last line) of each function, those inside others too."""
    found, open_braces = [], []
    head, position, line, first = "", 0, 1, 1
    for match in TOKEN.finditer(text):
        piece, token = text[position : match.start()], match.group()
        position = match.end()
        if piece.strip() and not head.strip():
            first = line
        head += piece
        if token == ";":
            head = ""
        elif token == "{":
            statement = head.strip()
            known = CONTROL.match(statement) or TYPE.match(statement)
            function = not known and opens_function(statement)
            block = bool(known or function or not statement)
            open_braces.append((function, block, first, head))
            head = "" if block else head + token
        elif token == "}" and open_braces:
            function, block, begin, before = open_braces.pop()
            if function:
                found.append((begin, line))
            head = "" if block else before + "{}"
        else:
            line += token.count("\n")
            head += '""' if token[0] in "\"'R" else " "
    return found


def functions_of_python(text):
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
    return [
        (node.lineno, node.end_lineno)
        for node in ast.walk(ast.parse(text))
        if isinstance(node, kinds)
    ]


def check_lengths(sources):
    for source in sources:
        python = source.suffix == ".py"
        if not (source.is_cpp or python) or source.path in TABLES:
            continue
        lines = len(source.lines) - 1
        if lines > FILE_LINES_MAX:
            yield f"{source.path}:1: {lines} lines; at most {FILE_LINES_MAX}"
        text = "\n".join(source.lines)
        for first, last in functions_of_python(text) if python else functions_of_cpp(text):
            length = last - first + 1
            if length > FUNCTION_LINES_MAX:
                where = f"{source.path}:{first}"
                yield f"{where}: a function of {length} lines; at most {FUNCTION_LINES_MAX}"
