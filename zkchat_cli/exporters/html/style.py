"""How the page looks: light or dark as its reader's system is, on a phone and on paper. Every colour is 4.5:1 or more on its ground."""

STYLE = """
:root {
  color-scheme: light dark;
  --ground: #ffffff; --raised: #f4f5f7; --line: #c9ccd1; --text: #1c1e21; --quiet: #565b63; --link: #0b57d0;
  --verified: #11632a; --cited: #414a57; --misquoted: #a3122a; --missing: #7a4a00;
  --marked: #ffef9e; --on-marked: #1c1e21;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ground: #16181b; --raised: #212429; --line: #474c54; --text: #e8e9eb; --quiet: #a9afb8; --link: #8ab4f8;
    --verified: #7ddf95; --cited: #bcc4cf; --misquoted: #ff9d94; --missing: #f0c35e;
    --marked: #5c4f00; --on-marked: #ffffff;
  }
}
* { box-sizing: border-box; }
body {
  margin: 0 auto; max-width: 48rem; padding: 1rem; background: var(--ground); color: var(--text);
  font: 1rem/1.55 system-ui, sans-serif; overflow-wrap: anywhere;
}
h1 { font-size: 1.6rem; line-height: 1.25; }
h2 { font-size: 1rem; margin: 0 0 .5rem; color: var(--quiet); }
h3 { font-size: 1rem; margin: 1rem 0 .25rem; }
h4, h5, h6 { font-size: 1rem; margin: 1rem 0 .25rem; }
a { color: var(--link); }
a:focus-visible, summary:focus-visible { outline: 3px solid var(--link); outline-offset: 2px; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .1rem 1rem; color: var(--quiet); }
dd { margin: 0; }
article { border-top: 1px solid var(--line); padding: 1rem 0; }
article.working { border: 0; padding: 0; }
article.working h2 { font-weight: 400; font-size: .9rem; margin: .2rem 0 0; }
article.working + article.assistant { border: 0; }
article.working + article.working h2 { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
article.user .prose { background: var(--raised); border-radius: .5rem; padding: .1rem .8rem; }
.prose, .excerpt pre, cite, q { unicode-bidi: isolate; }
pre, code { font-family: ui-monospace, monospace; font-size: .9em; }
pre { white-space: pre-wrap; background: var(--raised); border-radius: .3rem; padding: .6rem; margin: .4rem 0; }
blockquote { margin: .5rem 0; padding-left: .8rem; border-left: 3px solid var(--line); color: var(--quiet); }
table { border-collapse: collapse; }
caption { text-align: left; color: var(--quiet); }
th, td { border: 1px solid var(--line); padding: .2rem .5rem; text-align: left; vertical-align: top; }
.right { text-align: right; }
th, td.right { overflow-wrap: normal; white-space: nowrap; }
body > section { margin-top: 2rem; }
.center { text-align: center; }
.wide, .prose { overflow-x: auto; }
summary { cursor: pointer; color: var(--quiet); }
cite { font-style: normal; font-weight: 600; }
.sources ul, .unused ul, .call ul { list-style: none; padding-left: 0; }
.sources li { margin: .6rem 0; padding-left: .8rem; border-left: 3px solid var(--line); }
.sources p { margin: .2rem 0; }
.sources .status, .sources .quote { font-size: .9rem; }
.sources q { color: var(--text); }
.call { margin: .2rem 0; }
.sources li:target, .cite:target { outline: 3px solid var(--link); outline-offset: 2px; }
.unused, .call, .note, footer, time { color: var(--quiet); font-size: .9rem; }
.cite { text-decoration: none; white-space: nowrap; }
.sign { margin-left: .1em; font-weight: 700; }
.verified > .sign, .verified > p > .sign, .verified > p > .status, .quote.verified { color: var(--verified); }
.cited > .sign, .cited > p > .sign, .cited > p > .status, .quote.cited { color: var(--cited); }
.misquoted > .sign, .misquoted > p > .sign, .misquoted > p > .status, .quote.misquoted { color: var(--misquoted); }
.missing > .sign, .missing > p > .sign, .missing > p > .status, .quote.missing, .broken { color: var(--missing); }
mark { background: var(--marked); color: var(--on-marked); }
.unseen { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
.skip { position: absolute; left: -99rem; }
.skip:focus { position: static; }
svg { width: 100%; height: auto; }
svg text { font-size: 12px; fill: var(--quiet); }
.axis { stroke: var(--quiet); }
rect.prompt { fill: var(--link); }
rect.completion { fill: var(--verified); }
@media print {
  body { max-width: none; font-size: 10pt; }
  nav, .skip { display: none; }
  .sources li, pre, tr, svg { break-inside: avoid; }
  h2, h3 { break-after: avoid; }
  mark { outline: 1px solid; }
}
"""
