"""Writes python.json: what Python's re makes of patterns.

    python3 python.py > python.json

Each line is [pattern, verdict]; the verdict has a letter for each text, and a
second half for re.IGNORECASE: 1 found, 0 not found; "error" if re refuses the
pattern.
"""
import json
import random
import re
import sys
import warnings

warnings.simplefilter("ignore")

TEXTS = ["create_issue", "Create an issue in a repository.\n", "list_issues", "slack__send_message", "", "aab", "abab-1.5", "A[b]{2}(c)#\t d\\e]"]

BY_HAND = r"""
create.*issue|^list|issues?$|(?i)SLACK|(?i)(?m)^create|a(?i)b|(?i:SLACK)__|(?-i:a)B|(?s-i:a.)B|(?i-i:a)|(?i-:a)|(?im-s-x:a)|(?u)a|(?-u:a)|(?L)a|(?k)a
(?P<a>a)(?P=a)b|(?P<a>a)\1b|(?P<x>a)(b)\2|(a)(?P<x>b)\1|(?P<a>a)(?P<a>b)|(?P=a)|(?P<1>a)|(?P<é>a)(?P=é)|(?Pa)|(?P>a)|(?<a>a)|(?'a'a)|(?P<a|(?P<a>
(a)?b(?(1)a|b)|(?P<q>a)?b(?(q)a|$)|(?(2)a)|(?(q)a)|(?(1)a)(b)|(?(0)a)|(?(1|(?(1)a
\Acreate|issue\Z|issue.\Z|issue$|\Bssue|\bissue\b|\d+\.\d|\w+\W\w|\s\S|\D|[\d.]+$|[^\w\s]|\z|\G|\Q|\R|\X|\h|\K|\k<a>|\p{L}|\e|\c|\N{BULLET}|\y|\_|\-|\é
\x61\x61|\x6|\u0061b|\u61|\U00000061b|\U0011FFFF|\U61|\0|\07|\141|\377|\400|\1|(a)\1|(a\1)|(a)\2|(a)\141|(a)\11|\8|[\8]|[\1]|[\141]|[\x61-\x62]b
a{2}b|a{,1}b|a{1,}b|a{,}b|a{}|a{x}|a{2|a{2,1}|a{1,2}?b|a{1,2}+b|a*+a|a++b|a?+b|a**|a*?*|a+?b|{2}|{|}|a{ 2}|*a|+|?|(?:)*|(*a)|a|*|^*|$?|\b+|(^)*|(?=a)*|(?<=a)+b|(?#c)*|a(?#c)*b|x{2147483648}|x{4294967296}|a{0}b|(a|)*b|a{٣}
[]|[^]|[]a]|[^]a]|[[]b|[[:alpha:]]|[a-c-[b]]|[a-]|[-a]|[a--]|[a-\d]|[\d-a]|[z-a]|[+--]|[--]]|[]-a]|[a\]b]|[\]]|[\b]|[^^]|[&&a]|[a&&b]|[||]|[~~]|[a-z&&[^b]]|[\w-]|[\s\S]{3}|[.]|[$]|[#]|[ ]
a(?=b)|a(?!b)|(?<=a)b|(?<!a)b|(?<x)a|(?>a+)b|(?>a+)ab|(?|a)|(?&a)|(?R)|(?1)|(?C)|(?~a)|(?+1)|(?-1)|(?^a)|()|(|)|)|(a))|((a)|a|b)|(?:a|b)+-|(?=)|(?!)
(?x) a a b # c|(?x)a\ b|(?x)[ #]|(?x:a a)b|(?x:a a) b|(?x)a #c)|(?x)(?-x: b)|(?-x:a b)|(?x) \# |(?#x)a|(?#x|(?x)a (?#x) {2} b|(?x)( ?:a)|(?x)a + b
#|a#| |.|..\n|.\n|(?s).\n|\n$|\n\Z|(?m)^$|\\|\\e|]|\t| d|-|--|_|__|É
"""
# One pattern a piece: "|" separates, so patterns with alternatives stand here.
ALTERNATIVES = ["create|list", "^(create|list)_", "a|", "|a", "(a|b)|c", "(?:create|send)_(issue|message)", "get_.*_data", "database.*query|query.*database", "(?i)slack|github", "a||b", "(?(1)a|b)", "(x)?(?(1)y|a)b", "(?i)A|B", "a|*"]

PIECES = ["a", "b", "issue", "_", "__", " ", "-", ".", "[a-c]", "[^a]", "[]b]", "[", "]", "(", ")", "(?:", "(?P<n>", "(?P=n)", "(?=", "(?!", "(?<=", "(?<!", "\\1", "\\2", "\\w", "\\W", "\\s", "\\b", "\\Z", "\\A", "^", "$", "|", "*", "+", "?", "{1,2}", "{,2}", "{2", "}", "(?i)", "(?i:", "(?-i:", "(?x: a ", "#", "\\.", "\\[", "\\d", "B", "\\n", "(?(1)", "(?>", "\\x41", "\\07"]


def verdict(pattern):
    try:
        return "".join("1" if re.search(pattern, t, f) else "0" for f in (0, re.IGNORECASE) for t in TEXTS)
    except (re.error, OverflowError, IndexError):
        return "error"


def patterns():
    for line in BY_HAND.strip("\n").split("\n"):
        yield from line.split("|")
    yield from ALTERNATIVES
    rng = random.Random(20261130)
    good = 0
    while good < 700:
        p = "".join(rng.choice(PIECES) for _ in range(rng.randint(2, 7)))
        if verdict(p) != "error":
            good += 1
            yield p
        elif rng.random() < 0.02:
            yield p


print(json.dumps({"python": sys.version.split()[0], "texts": TEXTS}))
for p in dict.fromkeys(patterns()):
    print(json.dumps([p, verdict(p)], ensure_ascii=False))
