# SPDX-License-Identifier: Apache-2.0
"""What the program does with a value, by the source around the frame that reads it.

A value that is read and printed does no harm; one in a condition, a slice or the size of a tensor
decides what the program does next. A value that is given a name decides if a condition of the same
function uses that name; one that a function returns is judged where the function was called. `x is None`,
`isinstance(x, ...)`, `x.shape` and the like need no value. A check for NaN or infinity is a condition of
its own kind: in a normal run it finds none. Needs nothing of torch.
"""
import ast
import linecache

READS, DECIDES, RETURNS, CHECKS = "reads", "decides", "returns", "checks"

_TEXT_MAX = 72
_FOUND_MAX = 4096
_MATCH = getattr(ast, "Match", ())  # from Python 3.10 on
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_SIZED = {  # calls whose numbers are sizes
    "range", "islice", "empty", "zeros", "ones", "full", "arange", "linspace", "eye", "rand", "randn",
    "randint", "randperm", "new_empty", "new_zeros", "new_ones", "new_full", "view", "reshape",
    "expand", "repeat", "repeat_interleave", "split", "chunk", "narrow", "pad", "topk", "tile"}
_CHECKS = {"isnan", "isinf", "isfinite"}
_FUNCTIONS_WITHOUT_VALUE = {"isinstance", "callable", "hasattr", "type", "id", "len"}
_MEMBERS_WITHOUT_VALUE = {"shape", "size", "numel", "dim", "ndim", "dtype", "device", "is_cuda", "layout",
                          "requires_grad", "nbytes", "element_size", "stride", "data_ptr"}

_files = {}  # by name: (tree or None, its lines)
_found = {}  # by code object and place in it: the answer of use()


def _file(name):
    if name not in _files:
        lines = linecache.getlines(name)
        try:
            tree = ast.parse("".join(lines))
        except (SyntaxError, ValueError, RecursionError):
            tree = None
        _files[name] = tree, lines
    return _files[name]


def _covers(node, place):
    first, last, left, right = place
    if not hasattr(node, "lineno"):
        return True  # such as ast.comprehension: its parts have positions
    if left is None:
        return isinstance(node, ast.stmt) and node.lineno <= first and last <= node.end_lineno
    return ((node.lineno, node.col_offset) <= (first, left)
            and (last, right) <= (node.end_lineno, node.end_col_offset))


def _path(tree, place):
    """The nodes around *place*, from the module to the innermost."""
    path = [tree]
    while True:
        for child in ast.iter_child_nodes(path[-1]):
            if _covers(child, place) and (hasattr(child, "lineno") or _path(child, place)[1:]):
                path.append(child)
                break
        else:
            return path


def _text(lines, node):
    text = " ".join((ast.get_source_segment("".join(lines), node) or "").split())
    return text if len(text) <= _TEXT_MAX else text[:_TEXT_MAX - 1] + "…"


def _test_text(lines, node):
    words = {ast.If: "if ", ast.While: "while ", ast.Assert: "assert "}
    if isinstance(node, _MATCH):
        return "match " + _text(lines, node.subject)
    return words.get(type(node), "… if ") + _text(lines, node.test)


def _needs_no_value(node):
    """Does this expression ask for something else than the values of its parts?"""
    if isinstance(node, ast.Compare):
        return all(isinstance(op, (ast.Is, ast.IsNot)) for op in node.ops)
    return (isinstance(node, ast.Attribute) and node.attr in _MEMBERS_WITHOUT_VALUE
            or isinstance(node, ast.Call) and getattr(node.func, "id", "") in _FUNCTIONS_WITHOUT_VALUE)


def _names(node):
    """The names whose values *node* uses."""
    if isinstance(node, ast.Name):
        return {node.id}
    if _needs_no_value(node):
        return set()
    return set().union(*map(_names, ast.iter_child_nodes(node)))


def _test_with(scope, names):
    """The first condition in *scope* that uses one of *names*, which were just given a value."""
    tests = [n for n in ast.walk(scope) if isinstance(n, (ast.If, ast.While, ast.Assert, ast.IfExp))]
    for node in sorted(tests, key=lambda n: (n.lineno, n.col_offset)):
        if _names(node.test) & names:
            return node
    return None


def _targets(node):
    if isinstance(node, ast.Assign):
        found = node.targets
    elif isinstance(node, (ast.AugAssign, ast.AnnAssign, ast.NamedExpr)):
        found = [node.target]
    else:
        return None
    return {n.id for t in found for n in ast.walk(t)
            if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}


def _callee(node):
    return getattr(node.func, "id", getattr(node.func, "attr", ""))


def _checks(nodes):
    """Is one of the expressions a call of isnan and the like?"""
    return any(isinstance(n, ast.Call) and _callee(n) in _CHECKS for n in nodes)


def _judge(lines, path, place):
    """(what, text): what becomes of the value of the innermost node of *path*."""
    inner = path[-1]
    for at in range(len(path) - 1, -1, -1):
        node, child = path[at], path[at + 1] if at + 1 < len(path) else None
        if child is not None and _needs_no_value(node):
            break
        if isinstance(node, (ast.If, ast.While, ast.Assert, ast.IfExp)):
            # without columns, or with those of the whole statement, the test itself is running
            if child in (node.test, None):
                around = path[at + 1:-1] + list(ast.walk(node.test if child is None else inner))
                return CHECKS if _checks(around) else DECIDES, _test_text(lines, node)
        elif isinstance(node, _MATCH) and child in (node.subject, None):
            return DECIDES, _test_text(lines, node)
        elif isinstance(node, ast.comprehension) and child in node.ifs:
            return DECIDES, "… if " + _text(lines, child)
        elif isinstance(node, ast.Slice):
            return DECIDES, _text(lines, path[at - 1])
        elif isinstance(node, ast.Call) and child is not node.func and child and _callee(node) in _SIZED:
            return DECIDES, _text(lines, node)
        elif isinstance(node, ast.Return) or isinstance(node, ast.Lambda):
            return RETURNS, _text(lines, inner)
        names = _targets(node)
        if names:
            scope = next((n for n in reversed(path[:at]) if isinstance(n, _FUNCTIONS)), path[0])
            test = _test_with(scope, names)
            if test is not None:
                return DECIDES, f"{_text(lines, node)}`, then `{_test_text(lines, test)}"
        if isinstance(node, ast.stmt):
            break
    return READS, _text(lines, inner)


def place_of(frame):
    """(first line, last line, first column, last column) of what *frame* is running; before Python
    3.11 the columns are None."""
    code = frame.f_code
    if hasattr(code, "co_positions"):
        for i, (first, last, left, right) in enumerate(code.co_positions()):
            if i * 2 == frame.f_lasti:
                if first is not None and last is not None and left is not None and right is not None:
                    return first, last, left, right
                break
    return frame.f_lineno, frame.f_lineno, None, None


def use(frame):
    """(READS, DECIDES or RETURNS; source text) of the value that *frame* is reading."""
    key = (id(frame.f_code), frame.f_lasti)
    known = _found.get(key)
    if known is not None:
        return known[1]
    tree, lines = _file(frame.f_code.co_filename)
    place = place_of(frame)
    answer = READS, ""
    if tree is not None:
        answer = _judge(lines, _path(tree, place), place)
    if len(_found) >= _FOUND_MAX:
        _found.clear()  # programs that compile code again and again
    _found[key] = frame.f_code, answer  # the code object keeps its identity while it is here
    return answer
