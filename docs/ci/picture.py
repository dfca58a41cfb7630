"""A comment as HTML, with the looks of a code host: GFM by cmark-gfm, alerts and the colours of diffs added here."""

import html
import re
import sys

import cmarkgfm
from cmarkgfm.cmark import Options

CSS = """
body{font:14px/1.5 -apple-system,"Segoe UI","Noto Sans",Helvetica,Arial,"Noto Color Emoji",sans-serif;color:#1f2328;
  width:860px;margin:20px auto;border:1px solid #d1d9e0;border-radius:6px;padding:16px 20px;background:#fff}
h3{font-size:1.25em;margin:0 0 16px}h4{margin:16px 0 8px;font-size:1em}p,ul,table,details{margin:0 0 16px}ul{padding-left:2em}
a{color:#0969da}sub{font-size:75%;color:#59636e}
code,pre{font-family:ui-monospace,"Liberation Mono","DejaVu Sans Mono",monospace;font-size:85%}
code{background:#818b981f;border-radius:6px;padding:.2em .4em;white-space:break-spaces}
pre{background:#f6f8fa;border-radius:6px;padding:12px 16px;line-height:1.45;overflow:auto}pre code{background:none;padding:0;font-size:100%;white-space:pre}
table{border-collapse:collapse;display:block;width:max-content;max-width:100%}th,td{border:1px solid #d1d9e0;padding:6px 13px}
tr:nth-child(2n){background:#f6f8fa}
.alert{border-left:.25em solid #d1242f;padding:.5em 1em;margin-bottom:16px}.alert b.t{color:#d1242f}.alert p{margin:4px 0}
.m{color:#82071e;background:#ffebe9}.p{color:#116329;background:#dafbe1}.c{color:#953800;background:#ffd8b5}
.h{color:#8250df;font-weight:bold}
"""
KINDS = {"-": "m", "+": "p", "!": "c", "@": "h"}


def diff(match: re.Match) -> str:
    lines = []
    for line in match.group(1).rstrip("\n").split("\n"):
        kind = KINDS.get(line[:1])
        lines.append(f'<span class="{kind}">{line}</span>' if kind else line)
    return "<pre><code>" + "\n".join(lines) + "</code></pre>"


def alert(match: re.Match) -> str:
    return f'<div class="alert"><p><b class="t">{match.group(1).capitalize()}</b></p>\n<p>{match.group(2)}</div>'


text = open(sys.argv[1], encoding="utf-8").read()
body = cmarkgfm.github_flavored_markdown_to_html(text, Options.CMARK_OPT_UNSAFE)
body = re.sub(r'<pre lang="diff"><code>(.*?)</code></pre>', diff, body, flags=re.S)
body = re.sub(r"<blockquote>\s*<p>\[!(\w+)\]\s*(?:<br />)?\s*(.*?)</blockquote>", alert, body, flags=re.S)
print(f"<!doctype html><meta charset=utf-8><title>{html.escape(sys.argv[1])}</title><style>{CSS}</style><body>{body}")
