"""The cases of `hiding.py`: pages that hide a word, and near twins that show it.

`SECRET` stands where the word is. A technique is one line of `HIDING` or `SHOWING`,
its name and a declaration list; it is tried on an element itself and in one other
place of `WAYS`, in turn. `STRUCTURES` are pages of their own: a style sheet, a body.
Whether a word is seen is not said here: Chromium decides.
"""

SECRET = "SECRET"

HIDING = """
none|display:none
vis|visibility:hidden
collapse|visibility:collapse
cv|content-visibility:hidden
op0|opacity:0
op1pc|opacity:1%
opcalc|opacity:calc(1 - 1)
fopacity|filter:opacity(0)
fblurchain|filter:blur(0) opacity(0%)
font0|font-size:0
font1|font-size:1px
fontem|font-size:.01em
fontrem|font-size:0.01rem
fontpc|font-size:1%
fontcalc|font-size:calc(1px - 1px)
fontmin|font-size:min(0px,16px)
fontclamp|font-size:clamp(0px,0px,1px)
fontvw|font-size:0.05vw
fontsh|font:0/0 serif
fontshw|font:italic bold 0px/1 a
zoom|zoom:0.01
white|color:#fff
whitergb|color:rgb(255 255 255)
whitepc|color:rgb(100% 100% 100% / 1)
whitehsl|color:hsl(120deg 10% 100%)
whitehwb|color:hwb(0 100% 0%)
whitelab|color:lab(100% 0 0)
whitelch|color:lch(100% 0 0)
whiteok|color:oklab(1 0 0)
whiteoklch|color:oklch(100% 0 0)
whitecolor|color:color(srgb 1 1 1)
whitep3|color:color(display-p3 1 1 1)
whitemix|color:color-mix(in srgb, white, white)
whiteld|color:light-dark(white, black)
whiterel|color:rgb(from white r g b)
transp|color:transparent
transpa|color:rgb(0 0 0/0)
transphex|color:#0000
transphsl|color:hsl(0 0% 0% / 0%)
fill|-webkit-text-fill-color:transparent
fillw|-webkit-text-fill-color:#fff
alphawhite|color:rgb(0 0 0 / 0.5%)
onred|color:#f00;background:#f00
onredimg|color:red;background-image:linear-gradient(red,red)
onblk|background:black;color:#010101
bgcur|color:#345;background:currentcolor
maxh|max-height:0;overflow:hidden
h0|height:0;overflow:hidden
h0clip|height:0;overflow:clip
h0y|height:0;overflow-y:hidden
w0|width:0;overflow:hidden
w0x|width:0;overflow-x:hidden;white-space:nowrap
w1h1|width:1px;height:1px;overflow:hidden
blocksize|block-size:0;overflow:hidden
maxbs|max-block-size:0;overflow:hidden
inlinesize|inline-size:0;overflow:hidden;white-space:nowrap
hcalc|height:calc(0px);overflow:hidden
contain|height:0;contain:paint
left|position:absolute;left:-9999px
leftrem|position:absolute;left:-200em
inset|position:absolute;inset:-9999px auto auto -9999px
insetinl|position:absolute;inset-inline-start:-9999px
top|position:fixed;top:-5000px
topvh|position:absolute;top:-300vh
right|position:absolute;right:9999px
rel|position:relative;left:-5000px
sticky|position:relative;top:-3000px
ml|margin-left:-9999px
mlsh|margin:0 0 0 -9999px
mis|margin-inline-start:-5000px
mt|margin-top:-5000px
ti|text-indent:-9999px
tipc|text-indent:-300%
trx|transform:translateX(-9999px)
try|transform:translateY(-500vh)
tr|transform:translate(-9999px,0)
tr3|transform:translate3d(-9999px,0,0)
trpc|transform:translateX(-500%)
sc0|transform:scale(0)
sc0b|transform:scale(0,1)
scx|transform:scaleX(0)
scsmall|transform:scale(.01)
mat|transform:matrix(0,0,0,0,0,0)
rot|transform:rotateY(90deg)
rotx|transform:rotateX(0.25turn)
chain|transform:rotate(10deg) scale(0)
pscale|scale:0
prot|rotate:y 90deg
ptrans|translate:-9999px
clip|position:absolute;clip:rect(0,0,0,0)
clip1|position:absolute;clip:rect(1px 1px 1px 1px)
clipr|position:absolute;clip:rect(0 0 auto 0)
cpin|clip-path:inset(50%)
cpin2|clip-path:inset(0 100% 0 0)
cpcirc|clip-path:circle(0)
cpell|clip-path:ellipse(0 0 at 50% 50%)
cppoly|clip-path:polygon(0 0,0 0,0 0)
cprect|clip-path:rect(0 0 0 0)
cpxywh|clip-path:xywh(0 0 0 0)
cppath|clip-path:path("M0 0")
maskn|mask-image:linear-gradient(transparent,transparent)
maskw|-webkit-mask:linear-gradient(transparent,transparent)
zneg|position:relative;z-index:-1
bright|filter:brightness(100)
contrast|filter:invert(1)
letter|letter-spacing:-1em;width:1px;overflow:hidden
sec|-webkit-text-security:disc
""".strip().splitlines()

SHOWING = """
block|display:block
bogus|display:nonsense
flex|display:flex
visv|visibility:visible
op3|opacity:.3
op1|opacity:1
opbad|opacity:0px
fop|filter:opacity(.5)
fnone|filter:none
fbright|filter:brightness(1.1)
f10|font-size:10px
fem|font-size:.8em
fsmall|font-size:small
fpc|font-size:80%
fbad|font-size:-1px
fsh|font:12px/0 serif
fsh2|font:100 14px a
lh0|line-height:0
gray|color:#777
lgray|color:#ccc
red|color:red
named|color:lightgoldenrodyellow;background:navy
whiteon|color:#fff;background:#06c
whitehsl|color:white;background:hsl(210 50% 30%)
whitelab|color:white;background:lab(20% 0 0)
whitegrad|color:#fff;background:linear-gradient(#036,#009)
rgba|color:rgb(0 0 0 / .6)
rgbbad|color:rgb(white)
mixgray|color:color-mix(in srgb, white, black)
ld|color:light-dark(black, white)
fillblk|color:white;-webkit-text-fill-color:#000
h0vis|height:0
w0vis|width:0
max0|max-height:0
hbig|height:40px;overflow:hidden
wpc|width:100%;overflow:hidden
w0min|width:0;min-width:100%;overflow:hidden
h0min|height:0;min-height:40px;overflow:hidden
maxhbig|max-height:300px;overflow:auto
rell|position:relative;left:-5px
abs|position:absolute
abs10|position:absolute;left:10px;top:10px
leftstatic|left:-9999px
topstatic|top:-9999px
insetstatic|inset:-9999px
clipstatic|clip:rect(0,0,0,0)
mneg|margin-left:-4px
mtneg|margin-top:-4px
ti2|text-indent:2em
tineg|text-indent:-2px
trx|transform:translateX(10px)
trbad|transform:translateX(-9999)
rot|transform:rotate(5deg)
rot180|transform:rotateY(180deg)
sc|transform:scale(.9)
sc2|transform:scale(1,1)
mat|transform:matrix(1,0,0,1,0,0)
back|transform:translateX(-9999px) translateX(9999px)
pscale|scale:1
ptrans|translate:4px
rotz|rotate:3deg
cp|clip-path:none
cpin|clip-path:inset(0)
cpin2|clip-path:inset(-10px)
cpcirc|clip-path:circle(100%)
cpell|clip-path:ellipse(100% 100%)
cppoly|clip-path:polygon(0 0,100% 0,100% 100%,0 100%)
mask|mask-image:linear-gradient(black,black)
z1|position:relative;z-index:1
znegroot|position:relative;z-index:-1
ov|overflow:hidden
msohide|mso-hide:all
cvauto|content-visibility:auto
contain|contain:paint
ls|letter-spacing:1px
under|text-decoration:line-through
tt|text-transform:uppercase
vbig|visibility:hidden;visibility:visible
zoom|zoom:.9
blur|filter:blur(0.3px)
varun|display:var(--nothing)
""".strip().splitlines()

# What a technique stands in, where it needs that.
WRAPPED = {
    "zneg": ("<div style='background:#fff'>", "</div>"),
    "ti": ("<div>", "</div>"),
}


def own(css):
    """An element with the declarations in its attribute."""
    return f'<div style="{css.replace(chr(34), "&quot;")}">{SECRET}</div>'


def each(css, change):
    """The declarations, each changed."""
    return ";".join(change(at, *one.split(":", 1)) for at, one in enumerate(css.split(";")))


def ruled(selector, body):
    """A rule for an element of the body."""
    return lambda css: (f"<style>{selector}{{{css}}}</style>", body)


def upper(css):
    """In capitals; the text of a path keeps its letters."""
    return "", own(css if "path" in css else css.upper())


def important(css):
    """Each declaration important, in a sheet."""
    css = each(css, lambda _, name, value: f"{name}:{value}!important")
    return f"<style>.x{{{css}}}</style>", f"<div class=x>{SECRET}</div>"


def variables(css):
    """Each value by a custom property of the root."""
    values = each(css, lambda at, _, value: f"--v{at}:{value}")
    asked = each(css, lambda at, name, _: f"{name}:var(--v{at})")
    return f"<style>:root{{{values}}} .x{{{asked}}}</style>", f"<div class=x>{SECRET}</div>"


def escaped(css):
    """Each name with its first letter escaped."""
    return "", own(each(css, lambda _, name, value: f"\\{ord(name[0]):x} {name[1:]}:{value}"))


IN = f"<div class=x>{SECRET}</div>"
WAYS = [
    ruled(".x", IN),
    lambda css: ("", own(css).replace(SECRET, f"<div><span>{SECRET}</span></div>")),
    upper,
    important,
    ruled(":is(.x,.y):not(.z)", IN),
    ruled("section>div:nth-child(2n+1)", f"<section><div>{SECRET}</div></section>"),
    ruled("i + div.x", "<i>x</i>" + IN),
    ruled("div:has(> b)", f"<div><b>{SECRET}</b></div>"),
    variables,
    lambda css: (
        f"<style>@media screen and (min-width:300px){{@supports (display:grid){{.x{{{css}}}}}}}</style>",
        IN,
    ),
    lambda css: (
        f"<style>section{{color:#123;& .x{{{css}}}}}</style>",
        f"<section>{IN}</section>",
    ),
    lambda css: (
        f"<style>@layer b,a;@layer a{{.x{{{css}}}}}@layer b{{.x{{color:#123;display:block;opacity:1}}}}</style>",
        IN,
    ),
    escaped,
    ruled("[data-k$=Z i]", f"<div data-k=abcz>{SECRET}</div>"),
    ruled("section :first-child:last-of-type", f"<section><div>{SECRET}</div></section>"),
]

# Pages: a name, what stands in the head, and the body.
STRUCTURES = [
    ("hiddenattr", "", "<div hidden>SECRET</div>"),
    ("hiddenuf", "", "<div hidden=until-found>SECRET</div>"),
    ("hiddenover", "<style>.x{display:block}</style>", "<div class=x hidden>SECRET</div>"),
    ("ariahidden", "", "<div aria-hidden=true>SECRET</div>"),
    ("inert", "", "<div inert>SECRET</div>"),
    ("details", "", "<details><summary>More</summary>SECRET</details>"),
    ("detailsopen", "", "<details open><summary>More</summary>SECRET</details>"),
    ("summary", "", "<details><summary>SECRET</summary>x</details>"),
    ("dialog", "", "<dialog>SECRET</dialog>"),
    ("dialogopen", "", "<dialog open>SECRET</dialog>"),
    ("dialogcss", "<style>dialog{display:block}</style>", "<dialog>SECRET</dialog>"),
    ("popover", "", "<div popover>SECRET</div>"),
    ("popovercss", "<style>[popover]{display:block}</style>", "<div popover>SECRET</div>"),
    ("template", "", "<template>SECRET</template>"),
    ("comment", "", "<!-- SECRET -->"),
    ("mso", "", "<!--[if mso]>SECRET<![endif]-->"),
    ("notmso", "", "<!--[if !mso]><!-->SECRET<!--<![endif]-->"),
    ("svgtext", "", "<svg width=300 height=40><text x=0 y=20>SECRET</text></svg>"),
    ("svgtitle", "", "<svg width=300 height=40><title>SECRET</title></svg>"),
    ("svgdesc", "", "<svg width=300 height=40><desc>SECRET</desc></svg>"),
    ("svgdefs", "", "<svg width=300 height=40><defs><text y=20>SECRET</text></defs></svg>"),
    ("svgfillnone", "", "<svg width=300 height=40><text y=20 fill=none>SECRET</text></svg>"),
    ("svgfillwhite", "", "<svg width=300 height=40><text y=20 fill=white>SECRET</text></svg>"),
    ("svg0", "", "<svg width=0 height=0><text y=20>SECRET</text></svg>"),
    ("svgout", "", "<svg width=300 height=40><text y=-900>SECRET</text></svg>"),
    ("svgforeign", "", "<svg width=300 height=40><foreignObject width=300 height=40><p>SECRET</p></foreignObject></svg>"),
    ("svgstyle", "", "<svg width=0 height=0><style>.x{display:none}</style></svg><p class=x>SECRET</p>"),
    ("math", "", "<math><mtext>SECRET</mtext></math>"),
    ("mathannot", "", "<math><semantics><mi>x</mi><annotation>SECRET</annotation></semantics></math>"),
    ("mphantom", "", "<math><mphantom><mtext>SECRET</mtext></mphantom></math>"),
    ("rp", "", "<ruby>x<rp>SECRET</rp><rt>y</rt></ruby>"),
    ("rt", "", "<ruby>x<rt>SECRET</rt></ruby>"),
    ("video", "", "<video width=10 height=10>SECRET</video>"),
    ("audio", "", "<audio>SECRET</audio>"),
    ("canvas", "", "<canvas width=5 height=5>SECRET</canvas>"),
    ("object", "", "<object data=nothing.bin type=a/b>SECRET</object>"),
    ("iframe", "", "<iframe>SECRET</iframe>"),
    ("meter", "", "<meter>SECRET</meter>"),
    ("progress", "", "<progress value=1>SECRET</progress>"),
    ("option2", "", "<select><option>a<option>SECRET</select>"),
    ("option1", "", "<select><option>SECRET</select>"),
    ("datalist", "", "<datalist><option>SECRET</datalist>"),
    ("textarea", "", "<textarea>SECRET</textarea>"),
    ("inputvalue", "", "<input value='SECRET'>"),
    ("inputhidden", "", "<input type=hidden value='SECRET'>"),
    ("placeholder", "", "<input placeholder='SECRET'>"),
    ("titleattr", "", "<p title='SECRET'>x</p>"),
    ("label", "", "<label>SECRET</label>"),
    ("headtitle", "<title>SECRET</title>", ""),
    ("fontwhite", "", "<font color=white>SECRET</font>"),
    ("fontodd", "", "<font color='#ffffffzz'>SECRET</font>"),
    ("bodytext", "<style></style>", "<script></script>SECRET"),
    ("pcolorattr", "", "<p color=white>SECRET</p>"),
    ("tdbg", "", "<table><tr><td bgcolor=black><font color=black>SECRET</font></table>"),
    ("tdbg2", "", "<table bgcolor=navy><tr><td><font color=white>SECRET</font></table>"),
    ("trbg", "", "<table><tr bgcolor=#222><td><span style='color:#222'>SECRET</span></table>"),
    ("divbg", "", "<div bgcolor=black><span style='color:white'>SECRET</span></div>"),
    ("marquee", "", "<div style='height:0'><p>SECRET</p></div>"),
    ("bgimg", "", "<div style='color:#fff;background:url(x.png)'>SECRET</div>"),
    ("opprod", "", "<div style='opacity:.2'><div style='opacity:.2'><div style='opacity:.1'>SECRET</div></div></div>"),
    ("opprod2", "", "<div style='opacity:.8'><div style='opacity:.8'>SECRET</div></div>"),
    ("fontundo", "", "<div style='font-size:0'><span style='font-size:16px'>SECRET</span></div>"),
    ("fontundorem", "", "<div style='font-size:0'><span style='font-size:1rem'>SECRET</span></div>"),
    ("fontundoem", "", "<div style='font-size:0'><span style='font-size:5em'>SECRET</span></div>"),
    ("fontundomed", "", "<div style='font-size:0'><span style='font-size:medium'>SECRET</span></div>"),
    ("rootrem", "<style>html{font-size:1px}</style>", "<p style='font-size:1rem'>SECRET</p>"),
    ("visundo", "", "<div style='visibility:hidden'><p style='visibility:visible'>SECRET</p></div>"),
    ("colinherit", "", "<div style='color:#fff'><p style='color:inherit'>SECRET</p></div>"),
    ("colinitial", "", "<div style='color:#fff'><p style='color:initial'>SECRET</p></div>"),
    ("colrevert", "", "<div style='color:#fff'><p style='color:revert'>SECRET</p></div>"),
    ("linkcolor", "", "<div style='color:#fff'><a href=http://x.y/>SECRET</a></div>"),
    ("linkwhite", "<style>a:link{color:#fff}</style>", "<a href=http://x.y/>SECRET</a>"),
    ("anocolor", "", "<div style='color:#fff'><a>SECRET</a></div>"),
    ("bgover", "", "<div style='color:#fff;background:#fff'><div style='background:#000'>SECRET</div></div>"),
    ("bgblend", "", "<div style='background:#000'><div style='background:rgb(255 255 255/.99);color:#fff'>SECRET</div></div>"),
    ("allinit", "", "<div style='display:none;all:initial'>SECRET</div>"),
    ("allunset", "<style>.x{display:none;all:unset}</style>", "<div class=x>SECRET</div>"),
    ("spec1", "<style>#a{display:none}.x.y.z{display:block}</style>", "<div id=a class='x y z'>SECRET</div>"),
    ("spec2", "<style>div.x{display:none}.x{display:block}</style>", "<div class=x>SECRET</div>"),
    ("spec3", "<style>.x{display:block}:where(#a){display:none}</style>", "<div id=a class=x>SECRET</div>"),
    ("spec4", "<style>:is(#a,.q){display:none}.x.x.x{display:block}</style>", "<div id=a class=x>SECRET</div>"),
    ("spec5", "<style>section .x{display:none}.x{display:block}</style>", "<section><div class=x>SECRET</div></section>"),
    ("spec6", "<style>div div{display:none}.x{display:block}</style>", "<div><div class=x>SECRET</div></div>"),
    ("imp", "<style>.x{display:none!important}</style>", "<div class=x style='display:block'>SECRET</div>"),
    ("imp2", "<style>.x{display:none}</style>", "<div class=x style='display:block'>SECRET</div>"),
    ("layerlow", "<style>.x{display:block}@layer a{.x{display:none}}</style>", "<div class=x>SECRET</div>"),
    ("layerhigh", "<style>@layer a{#x{display:block}}.x{display:none}</style>", "<div id=x class=x>SECRET</div>"),
    ("layerimp", "<style>@layer a{.x{display:none!important}}.x{display:block!important}</style>", "<div class=x>SECRET</div>"),
    ("nthlast", "<style>li:nth-last-child(1){display:none}</style>", "<ul><li>a<li>SECRET</ul>"),
    ("nthlast2", "<style>li:nth-last-child(2){display:none}</style>", "<ul><li>a<li>SECRET</ul>"),
    ("only", "<style>b:only-child{display:none}</style>", "<p><b>SECRET</b></p>"),
    ("empty", "<style>p:not(:empty).x{display:none}</style>", "<p class=x>SECRET</p>"),
    ("root", "<style>:root .x{display:none}</style>", "<p class=x>SECRET</p>"),
    ("lang", "<style>:lang(en){display:none}</style>", "<p lang=en-GB>SECRET</p>"),
    ("dir", "<style>:dir(rtl){color:#fff}</style>", "<p dir=rtl>SECRET</p>"),
    ("gensib", "<style>h2 ~ p.x{display:none}</style>", "<h2>h</h2><p>a</p><p class=x>SECRET</p>"),
    ("hover", "<style>.x:hover{display:none}</style>", "<p class=x>SECRET</p>"),
    ("nothover", "<style>.x:not(:hover){display:none}</style>", "<p class=x>SECRET</p>"),
    ("visited", "<style>a:any-link{font-size:0}</style>", "<a href=http://x.y/>SECRET</a>"),
    ("checked", "<style>input:checked + p{display:none}</style>", "<input type=checkbox checked><p>SECRET</p>"),
    ("unchecked", "<style>input:not(:checked) + p{display:none}</style>", "<input type=checkbox><p>SECRET</p>"),
    ("disabled", "<style>:disabled + p{display:none}</style>", "<button disabled>b</button><p>SECRET</p>"),
    ("firstline", "<style>.x::first-line{font-size:0}</style>", "<p class=x>SECRET</p>"),
    ("firstlineclr", "<style>.x::first-line{color:#fff}</style>", "<p class=x>SECRET</p>"),
    ("before", "<style>.x::before{display:none}</style>", "<p class=x>SECRET</p>"),
    ("contenturl", "<style>.x{content:url(data:image/gif;base64,R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7)}</style>", "<p class=x>SECRET</p>"),
    ("badsel", "<style>.x,:nonsense{display:none}</style>", "<p class=x>SECRET</p>"),
    ("goodis", "<style>:is(.x,:nonsense){display:none}</style>", "<p class=x>SECRET</p>"),
    ("badpseudo", "<style>.x:nonsense(a){display:none}</style>", "<p class=x>SECRET</p>"),
    ("ns", "<style>@namespace svg url(http://www.w3.org/2000/svg);svg|*.x{display:none}</style>", "<p class=x>SECRET</p>"),
    ("supportsno", "<style>@supports (display:nonsense){.x{display:none}}</style>", "<p class=x>SECRET</p>"),
    ("supportssel", "<style>@supports selector(:has(a)){.x{display:none}}</style>", "<p class=x>SECRET</p>"),
    ("container", "<style>section{container-type:inline-size}@container (max-width:10px){.x{display:none}}</style>", "<section><p class=x>SECRET</p></section>"),
    ("container2", "<style>section{container-type:inline-size}@container (min-width:10px){.x{display:none}}</style>", "<section><p class=x>SECRET</p></section>"),
    ("scope", "<style>@scope (.s) to (.e){p{display:none}}</style>", "<div class=s><p>SECRET</p></div>"),
    ("scopeend", "<style>@scope (.s) to (.e){p{display:none}}</style>", "<div class=s><div class=e><p>SECRET</p></div></div>"),
    ("scopeout", "<style>@scope (.s){p{display:none}}</style>", "<div><p class=q>SECRET</p></div>"),
    ("print", "<style>@media print{.x{display:none}}</style>", "<p class=x>SECRET</p>"),
    ("small", "<style>@media (max-width:480px){.x{display:none}}</style>", "<p class=x>SECRET</p>"),
    ("importdata", "<style>@import url('data:text/css,.x{display:none}');</style>", "<p class=x>SECRET</p>"),
    ("linkdata", "<link rel=stylesheet href='data:text/css,.x{display:none}'>", "<p class=x>SECRET</p>"),
    ("styletype", "<style type=text/plain>.x{display:none}</style>", "<p class=x>SECRET</p>"),
    ("stylebody", "", "<style>.x{display:none}</style><p class=x>SECRET</p>"),
    ("styleafter", "", "<p class=x>SECRET</p><style>.x{display:none}</style>"),
    ("anim", "<style>@keyframes k{to{opacity:0}}.x{animation:k 1ms forwards}</style>", "<p class=x>SECRET</p>"),
    ("animin", "<style>@keyframes k{from{opacity:0}to{opacity:1}}.x{animation:k 1ms forwards;opacity:0}</style>", "<p class=x>SECRET</p>"),
    ("varfall", "", "<p style='display:var(--no, none)'>SECRET</p>"),
    ("varinh", "<style>section{--d:none}</style>", "<section><p style='display:var(--d)'>SECRET</p></section>"),
    ("varchain", "<style>:root{--a:var(--b);--b:none}</style>", "<p style='display:var(--a)'>SECRET</p>"),
    ("varcycle", "<style>:root{--a:var(--b);--b:var(--a)}</style>", "<p style='display:none;display:var(--a)'>SECRET</p>"),
    ("clipanc", "", "<div style='height:20px;overflow:hidden'><div style='height:500px'></div><p>SECRET</p></div>"),
    ("clippad", "", "<div style='height:0;padding-top:100px;overflow:hidden'><p>SECRET</p></div>"),
    ("clippadvis", "", "<div style='height:0;padding-top:100px;overflow:hidden'><p style='margin-top:-90px'>SECRET</p></div>"),
    ("absinclip", "", "<div style='height:30px;overflow:hidden;position:relative'><p style='position:absolute;top:200px'>SECRET</p></div>"),
    ("cover", "", "<div style='position:relative'>SECRET<div style='position:absolute;inset:0;background:#fff'></div></div>"),
    ("covernext", "", "<p style='margin:0;height:20px'>SECRET</p><div style='margin-top:-20px;height:30px;background:#fff;position:relative'></div>"),
    ("lineclamp", "", "<div style='display:-webkit-box;-webkit-line-clamp:1;-webkit-box-orient:vertical;overflow:hidden'>a<br>b<br>SECRET</div>"),
    ("nowrapcut", "", "<div style='width:60px;overflow:hidden;white-space:nowrap'>long long long long text then SECRET</div>"),
    ("flex0", "", "<div style='display:flex;height:0;overflow:hidden'><p>SECRET</p></div>"),
    ("colcollapse", "", "<table><tr style='visibility:collapse'><td>SECRET</table>"),
    ("coldisplay", "<style>col.x{display:none}</style>", "<table><col class=x><tr><td>SECRET</table>"),
    ("spanblocksize", "", "<span style='width:0;height:0;overflow:hidden'>SECRET</span>"),
    ("spantransform", "", "<span style='transform:scale(0)'>SECRET</span>"),
    ("spanclip", "", "<span style='text-indent:-9999px'>SECRET</span>"),
    ("tdheight0", "", "<table><tr><td style='height:0;overflow:hidden'>SECRET</table>"),
    ("dispcontents", "", "<div style='display:contents;opacity:0'>SECRET</div>"),
    ("floatneg", "", "<div style='float:left;margin-left:-9999px'>SECRET</div>"),
    ("rtlindent", "", "<div style='direction:rtl;text-indent:-9999px'>SECRET</div>"),
    ("rightoff", "", "<div style='position:absolute;left:20000px'>SECRET</div>"),
    ("bodywhite", "<style>body{color:white}</style>", "SECRET"),
    ("bodybg", "<style>body{color:white;background:#222}</style>", "SECRET"),
    ("htmlbg", "<style>html{background:#222}body{color:#fff}</style>", "SECRET"),
    ("caseq", "<style>.HIDE{display:none}</style>", "<p class=hide>SECRET</p>"),
    ("lineend", "<style>.x{display:none}</style", "<p class=x>SECRET</p>"),
    ("nlname", "", "<p style='dis\nplay:none'>SECRET</p>"),
    ("slashattr", "", "<p/style='display:none'>SECRET</p>"),
    ("dupattr", "", "<p style='color:red' style='display:none'>SECRET</p>"),
    ("entattr", "", "<p style='display&#58;&#110;one'>SECRET</p>"),
    ("mediahover", "<style>@media (hover:hover){.x{display:none}}</style>", "<p class=x>SECRET</p>"),
    ("whiteimp", "<style>*{color:#fff!important}</style>", "<p style='color:#000'>SECRET</p>"),
    ("mixblend", "", "<div style='background:#fff'><p style='mix-blend-mode:screen'>SECRET</p></div>"),
    ("backface", "", "<p style='transform:rotateY(180deg);backface-visibility:hidden'>SECRET</p>"),
    ("perspective", "", "<p style='transform:perspective(10px) translateZ(20px)'>SECRET</p>"),
    ("shapeoutside", "", "<p style='offset-path:path(\"M-9000 0\");offset-distance:0'>SECRET</p>"),
    ("wordspc", "", "<p style='columns:1;column-width:1px;height:1px;overflow:hidden'>SECRET</p>"),
    ("fontsizeadj", "", "<p style='font-size-adjust:0'>SECRET</p>"),
    ("shadowdom", "", "<div><template shadowrootmode=open><slot name=z></slot></template>SECRET</div>"),
    ("shadowtext", "", "<div><template shadowrootmode=open>SECRET</template></div>"),
    ("frameset0", "", "<noframes>SECRET</noframes>"),
    ("noscript", "", "<noscript>SECRET</noscript>"),
    ("xmp", "", "<xmp>SECRET</xmp>"),
    ("plaintextstyle", "", "<xmp><style>p{display:none}</style></xmp><p>SECRET</p>"),
    ("brokencomment", "", "<!-->SECRET-->"),
    ("caption", "", "<table><caption>SECRET</caption><tr><td>x</table>"),
    ("fieldset", "", "<fieldset><legend>SECRET</legend></fieldset>"),
    ("blinkbg", "", "<p><mark style='color:yellow'>SECRET</mark></p>"),
    ("button", "", "<button style='color:white;background:#06c'>SECRET</button>"),
    ("imgalt", "", "<img src=x.png alt='SECRET'>"),
    ("imgalt0", "", "<img src=x.png alt='SECRET' style='display:none'>"),
    ("quirkscolor", "", "<p style='color:ffffff'>SECRET</p>"),
    # Boxes without room, strokes, covers and names.
    ("lh0clip", "", '<div style="line-height:0;overflow:hidden">SECRET</div>'),
    ("lhclipshown", "", '<div style="line-height:1.2;overflow:hidden">SECRET</div>'),
    ("lh0clippadshown", "", '<div style="line-height:0;overflow:hidden;padding:20px">SECRET</div>'),
    ("lh0innershown", "", "<div style='line-height:0;overflow:hidden'><span style='line-height:20px'>SECRET</span></div>"),
    ("lh0inh", "", "<div style='overflow:hidden'><p style='margin:0;line-height:0'>SECRET</p></div>"),
    ("lh0aftershown", "", "<div style='overflow:hidden'>a b<br>c<p style='margin:0;line-height:0'>SECRET</p>c d e</div>"),
    ("cstrict", "", '<div style="contain:strict">SECRET</div>'),
    ("csizeov", "", '<div style="contain:size;overflow:hidden">SECRET</div>'),
    ("csizeshown", "", '<div style="contain:size">SECRET</div>'),
    ("cstricthshown", "", '<div style="contain:strict;height:30px">SECRET</div>'),
    ("cintrshown", "", '<div style="contain:size;overflow:hidden;contain-intrinsic-size:100px 30px">SECRET</div>'),
    ("cinlinefloat", "", '<div style="contain:inline-size;overflow:hidden;float:left">SECRET</div>'),
    ("cinlineshown", "", '<div style="contain:inline-size;overflow:hidden">SECRET</div>'),
    ("ctsize", "", '<div style="container-type:size;overflow:hidden">SECRET</div>'),
    ("ctsizeshown", "", '<div style="container-type:size;overflow:hidden;height:30px">SECRET</div>'),
    ("ar1", "", '<div style="aspect-ratio:1000/1;width:100px;overflow:hidden">SECRET</div>'),
    ("arshown", "", '<div style="aspect-ratio:1000/1;width:100px">SECRET</div>'),
    ("ar2shown", "", '<div style="aspect-ratio:16/9;width:200px;overflow:hidden">SECRET</div>'),
    ("flex00", "", "<div style='display:flex'><div style='flex:0 0 0;overflow:hidden'>SECRET</div></div>"),
    ("flexb0", "", "<div style='display:flex'><div style='flex-basis:0;overflow:hidden'>SECRET</div></div>"),
    ("flexb0p", "", "<div style='display:flex'><div style='flex:0 1 0%;overflow:hidden'>SECRET</div><div style='flex:1'>x</div></div>"),
    ("flex1shown", "", "<div style='display:flex'><div style='flex:1 1 0;overflow:hidden'>SECRET</div></div>"),
    ("flexminshown", "", "<div style='display:flex'><div style='flex:0 0 0;overflow:hidden;min-width:200px'>SECRET</div></div>"),
    ("flexvisshown", "", "<div style='display:flex'><div style='flex:0 0 0'>SECRET</div></div>"),
    ("flexcol", "", "<div style='display:flex;flex-direction:column'><div style='flex:0 0 0;overflow:hidden'>SECRET</div></div>"),
    ("flexblockshown", "", "<div><div style='flex:0 0 0;overflow:hidden'>SECRET</div></div>"),
    ("grid0", "", "<div style='display:grid;grid-template-columns:0 1fr'><div style='overflow:hidden'>SECRET</div><div>x</div></div>"),
    ("gridrow0", "", "<div style='display:grid;grid-template-rows:0'><div style='overflow:hidden'>SECRET</div></div>"),
    ("gridrow0fr", "", "<div style='display:grid;grid-template-rows:0fr'><div style='overflow:hidden'>SECRET</div></div>"),
    ("gridrow1frshown", "", "<div style='display:grid;grid-template-rows:1fr'><div style='overflow:hidden'>SECRET</div></div>"),
    ("gridauto0", "", "<div style='display:grid;grid-auto-rows:0'><div style='overflow:hidden'>SECRET</div></div>"),
    ("gridautoshown", "", "<div style='display:grid;grid-auto-rows:40px'><div style='overflow:hidden'>SECRET</div></div>"),
    ("gridvisshown", "", "<div style='display:grid;grid-template-columns:0 1fr'><div>SECRET</div><div>x</div></div>"),
    ("grid2ndshown", "", "<div style='display:grid;grid-template-columns:0 1fr'><div style='overflow:hidden'>x</div><div style='overflow:hidden'>SECRET</div></div>"),
    ("gridsh", "", "<div style='display:grid;grid:0/1fr'><div style='overflow:hidden'>SECRET</div></div>"),
    ("ls1em", "", '<div style="letter-spacing:-1em">SECRET</div>'),
    ("lsindent", "", "<div style='letter-spacing:-999px'>xx SECRET</div>"),
    ("lsspan", "", "<div>xx <span style='letter-spacing:-999px'>x SECRET</span></div>"),
    ("lsshown", "", '<div style="letter-spacing:-.05em">SECRET</div>'),
    ("ls2shown", "", '<div style="letter-spacing:-1px">SECRET</div>'),
    ("ws", "", "<div style='word-spacing:-999px'>xx SECRET yy</div>"),
    ("wsnb", "", "<div style='word-spacing:-999px'>xx&nbsp;SECRET</div>"),
    ("wsshown", "", "<div style='word-spacing:-2px'>xx SECRET yy</div>"),
    ("colvis", "", "<table><colgroup><col style='visibility:collapse'></colgroup><tr><td>SECRET</td><td>x</td></tr></table>"),
    ("colvis2", "<style>col.x{visibility:collapse}</style>", "<table><col><col class=x><tr><td>x<td>SECRET</table>"),
    ("colvisshown", "<style>col.x{visibility:collapse}</style>", "<table><col><col class=x><tr><td>SECRET<td>x</table>"),
    ("colvishshown", "", "<table><col style='visibility:hidden'><tr><td>SECRET<td>x</table>"),
    ("colgrp", "", "<table><colgroup span=1 style='visibility:collapse'><tr><td>SECRET<td>x</table>"),
    ("colspanattr", "", "<table><col span=2 style='visibility:collapse'><tr><td>y<td>SECRET<td>x</table>"),
    ("masks0", "", '<div style="mask-image:linear-gradient(#000,#000);mask-size:0 0">SECRET</div>'),
    ("masksh", "", '<div style="mask:linear-gradient(#000 0 0) 0 0/0 0 no-repeat">SECRET</div>'),
    ("masksshown", "", '<div style="mask-image:linear-gradient(#000,#000);mask-size:100% 100%">SECRET</div>'),
    ("masksw", "", '<div style="-webkit-mask-image:linear-gradient(#000,#000);-webkit-mask-size:0">SECRET</div>'),
    ("maskpart", "", '<div style="mask-image:linear-gradient(transparent 99%,#000)">SECRET</div>'),
    ("maskpartshown", "", '<div style="mask-image:linear-gradient(#000 80%,transparent)">SECRET</div>'),
    ("maskcomp", "", '<div style="mask-image:linear-gradient(#000,#000),linear-gradient(#000,#000);mask-composite:exclude">SECRET</div>'),
    ("masklum", "", '<div style="mask-image:linear-gradient(#000,#000);mask-mode:luminance">SECRET</div>'),
    ("maskbox", "", '<div style="-webkit-mask-box-image:linear-gradient(transparent,transparent)">SECRET</div>'),
    ("maskboxshown", "", '<div style="-webkit-mask-box-image:linear-gradient(#000,#000)">SECRET</div>'),
    ("strokeshown", "", '<div style="-webkit-text-fill-color:transparent;-webkit-text-stroke:1px #000">SECRET</div>'),
    ("strokew", "", '<div style="-webkit-text-fill-color:transparent;-webkit-text-stroke:1px #fff">SECRET</div>'),
    ("strokeover", "", '<div style="-webkit-text-stroke:12px #fff">SECRET</div>'),
    ("strokeover2", "", '<div style="-webkit-text-stroke-width:.8em;-webkit-text-stroke-color:white">SECRET</div>'),
    ("strokethinshown", "", '<div style="-webkit-text-stroke:.3px #fff">SECRET</div>'),
    ("strokeposhown", "", '<div style="-webkit-text-stroke:12px #fff;paint-order:stroke fill">SECRET</div>'),
    ("stroketransp", "", '<div style="-webkit-text-fill-color:transparent;-webkit-text-stroke:0 #000">SECRET</div>'),
    ("fillground", "", '<div style="background:#223;-webkit-text-fill-color:#223">SECRET</div>'),
    ("fillgroundshown", "", '<div style="background:#223;color:#223;-webkit-text-fill-color:#fff">SECRET</div>'),
    ("fillinh", "", "<div style='-webkit-text-fill-color:#fff'><p style='color:#000'>SECRET</p></div>"),
    ("fillcurshown", "", "<div style='-webkit-text-fill-color:currentcolor;color:#fff'><p style='color:#000'>SECRET</p></div>"),
    ("outl", "", '<div style="outline:30px solid #fff;outline-offset:-30px;width:200px;height:40px">SECRET</div>'),
    ("outlshown", "", '<div style="outline:2px solid #fff">SECRET</div>'),
    ("outlnext", "", "<p style='margin:0'>SECRET</p><p style='margin:0;outline:40px solid #fff'>x</p>"),
    ("outlnextshown", "", "<p style='margin:0'>SECRET</p><p style='outline:2px solid #fff'>x</p>"),
    ("bord", "", "<p style='margin:0;height:20px'>SECRET</p><div style='margin-top:-20px;border-top:30px solid #fff;position:relative'></div>"),
    ("bordshown", "", "<p style='margin:0;height:20px'>SECRET</p><div style='border-top:30px solid #fff;position:relative'></div>"),
    ("bordnpshown", "", "<p style='margin:0;height:20px'>SECRET</p><div style='margin-top:-20px;border-top:30px solid #fff'></div>"),
    ("bordabs", "", "<div style='position:relative'>SECRET<div style='position:absolute;inset:0;border:20px solid #fff'></div></div>"),
    ("bordabsshown", "", "<div style='position:relative'>SECRET<div style='position:absolute;inset:0;border:1px solid #fff'></div></div>"),
    ("bshadow", "", "<div style='position:relative'>SECRET<div style='position:absolute;inset:0;box-shadow:inset 0 0 0 99px #fff'></div></div>"),
    ("bshadowshown", "", "<div style='box-shadow:inset 0 0 0 99px #fff'>SECRET</div>"),
    ("bshadow2", "", "<p style='margin:0'>SECRET</p><div style='position:relative;height:2px;box-shadow:0 0 0 60px #fff'></div>"),
    ("bshadow2shown", "", "<p style='margin:0'>SECRET</p><div style='position:relative;height:40px;box-shadow:0 2px 3px #ccc'></div>"),
    ("clsfdd0", "<style>.a\ufdd0b{display:none}</style>", "<p class='a\ufdd0b'>SECRET</p>"),
    ("idfdd0", "<style>#a\ufdd0b{display:none}</style>", "<p id='a\ufdd0b'>SECRET</p>"),
    ("clsesc", "<style>.a\\fdd0 b{display:none}</style>", "<p class='a\ufdd0b'>SECRET</p>"),
    ("clsent", "<style>.a\ufdd0b{display:none}</style>", "<p class='a&#xfdd0;b'>SECRET</p>"),
    ("clsfdd0shown", "<style>.ab{display:none}</style>", "<p class='a\ufdd0b'>SECRET</p>"),
    ("clsfffe", "<style>.a\ufffeb{display:none}</style>", "<p class='a\ufffeb'>SECRET</p>"),
    ("cls200bshown", "<style>.ab{display:none}</style>", "<p class='a\u200bb'>SECRET</p>"),
    ("bgsize0", "", '<div style="color:#fff;background:linear-gradient(#000,#000) 0 0/0 0 no-repeat">SECRET</div>'),
    ("bgsize1", "", '<div style="color:#fff;background:linear-gradient(#000,#000);background-size:0">SECRET</div>'),
    ("bgsizeshown", "", '<div style="color:#fff;background:linear-gradient(#000,#000);background-size:100%">SECRET</div>'),
    ("imgcover", "", "<div style='position:relative'>SECRET<img src='data:image/gif;base64,R0lGODlhAQABAIAAAP///wAAACH5BAAAAAAALAAAAAABAAEAAAICRAEAOw==' style='position:absolute;left:0;top:0;width:400px;height:40px'></div>"),
    ("imgcovershown", "", "<div style='position:relative'>SECRET<img src='data:image/gif;base64,R0lGODlhAQABAIAAAP///wAAACH5BAAAAAAALAAAAAABAAEAAAICRAEAOw==' style='width:400px;height:40px'></div>"),
    ("bgh0", "", '<div style="height:0;background:#000;color:#fff">SECRET</div>'),
    ("bginl", "", "<span style='background:#000'><div style='color:#fff'>SECRET</div></span>"),
    ("lhtall", "", '<div style="height:16px;line-height:100px;overflow:hidden">SECRET</div>'),
    ("bbox", "", '<div style="padding-top:100px;height:50px;box-sizing:border-box;overflow:hidden">SECRET</div>'),
    ("mtclip", "", "<div style='height:50px;overflow:hidden'><p style='margin-top:200px'>SECRET</p></div>"),
    ("ptclip", "", "<div style='height:50px;overflow:hidden'><p style='padding-top:200px'>SECRET</p></div>"),
    ("lr", "", '<div style="position:absolute;left:0;right:100%;overflow:hidden">SECRET</div>'),
    ("after", "<style>.x{position:relative}.x::after{content:'';position:absolute;inset:0;background:#fff}</style>", "<div class=x>SECRET</div>"),
    ("before2", "<style>.x{position:relative}.x::before{content:'';position:absolute;inset:0;background:#fff}</style>", "<div class=x>SECRET</div>"),
    ("ps-valid", "<style>#q:valid ~ p{display:none}</style>", "<input type=radio id=q name=r><p>SECRET</p>"),
    ("psdis", "<style>input:disabled + p{display:none}</style>", "<fieldset disabled><input><p>SECRET</p></fieldset>"),
    ("psen", "<style>input:enabled + p{display:none}</style>", "<fieldset disabled><input><p>SECRET</p></fieldset>"),
    ("mq-notbad", "<style>@media not (nonsense){.x{display:none}}</style>", "<p class=x>SECRET</p>"),
    ("mq-inv", "<style>@media (inverted-colors:none){.x{display:none}}</style>", "<p class=x>SECRET</p>"),
    ("cstyle", "<style>section{--x:1}@container style(--x:1){p{display:none}}</style>", "<section><p>SECRET</p></section>"),
    ("optlabel", "", "<select><option label=x>SECRET</select>"),
    ("inpnum", "", "<input type=number value='SECRET'>"),
    ("ibneg", "", "<p style='margin:0'>SECRET<span style='display:inline-block;margin-left:-400px;width:400px;height:40px;background:#fff;vertical-align:middle'></span></p>"),
    ("trup", "", "<p style='margin:0'>SECRET</p><div style='height:40px;background:#fff;transform:translateY(-30px)'></div>"),
    ("animinf", "<style>@keyframes k{from{opacity:0}to{opacity:0}}.x{animation:k 1s infinite}</style>", "<p class=x>SECRET</p>"),
    ("animdelay", "<style>@keyframes k{from{opacity:0}}.x{animation:k 1s 9999s backwards}</style>", "<p class=x>SECRET</p>"),
    ("sttitle", "<style>.x{display:none}</style><style title=A></style><style title=B>.x{display:block}</style>", "<p class=x>SECRET</p>"),
    ("sttitleshown", "<style title=A></style><style title=B>.x{display:none}</style>", "<p class=x>SECRET</p>"),
    ("stdis", "<style disabled>.x{display:none}</style>", "<p class=x>SECRET</p>"),
    ("ltover", "", '<div style="text-decoration:line-through 30px #fff">SECRET</div>'),
    ("h3", "", '<div style="height:3px;overflow:hidden">SECRET</div>'),
    ("tshshown", "", '<div style="color:transparent;text-shadow:0 0 0 #000">SECRET</div>'),
    ("tshonlyshown", "", '<div style="color:#fff;text-shadow:1px 1px 2px #000">SECRET</div>'),
    ("lclampno2shown", "", "<div style='-webkit-line-clamp:1;overflow:hidden'>a<br>b<br>SECRET</div>"),
    ("clipmarginshown", "", '<div style="overflow:clip;overflow-clip-margin:30px;height:0">SECRET</div>'),
    ("overflowbody", "<style>body{height:0;overflow:hidden}</style>", "<p>SECRET</p>"),
    ("tihang", "", "<div style='text-indent:-9999px hanging'>SECRET</div>"),
    ("posright", "", "<div style='position:absolute;right:100vw'>SECRET</div>"),
    ("padr", "", '<div style="padding-left:200px;width:100px;box-sizing:border-box;overflow:hidden">SECRET</div>'),
    ("flexshrink", "", "<div style='display:flex;width:300px'><div style='flex:none;width:300px'>x</div><div style='flex:1 1 0;overflow:hidden'>SECRET</div></div>"),
    ("bgpos", "", '<div style="color:#fff;background:linear-gradient(#000,#000) no-repeat 0 900px">SECRET</div>'),
    ("bgfloat", "", "<div style='background:#000'><p style='float:left;color:#fff'>SECRET</p></div>"),
    ("bgfloatshown", "", "<div style='background:#000;overflow:hidden'><p style='float:left;color:#fff'>SECRET</p></div>"),
    ("bgabs", "", "<div style='background:#000'><p style='position:absolute;color:#fff'>SECRET</p></div>"),
    ("bgmoved", "", "<div style='background:#000;height:40px;position:relative'><p style='position:absolute;top:90px;color:#fff'>SECRET</p></div>"),
    ("bgmovedshown", "", "<div style='background:#000;height:140px;position:relative'><p style='position:absolute;top:30px;color:#fff'>SECRET</p></div>"),
    ("bgrel", "", "<div style='background:#000;color:#fff'>x<span style='position:relative;top:60px'>SECRET</span></div>"),
    ("valign", "", "<div style='height:40px;overflow:hidden'>x<span style='vertical-align:-200px'>SECRET</span></div>"),
    ("floatclip", "", "<div style='height:40px;overflow:hidden'><div style='float:left;width:100%;height:300px'></div>SECRET</div>"),
    ("pdtyped", "<style>@property --c{syntax:'<color>';inherits:true;initial-value:#fff}</style>", "<div style='--c:nonsense;color:var(--c)'>SECRET</div>"),
    ("fontadj", "<style>@font-face{font-family:x;src:local('DejaVu Sans'),local('Liberation Sans');size-adjust:0%}</style>", "<p style='font-family:x'>SECRET</p>"),
    ("fontfaceshown", "<style>@font-face{font-family:x;src:local('DejaVu Sans'),local('Liberation Sans')}</style>", "<p style='font-family:x'>SECRET</p>"),
    ("bdblur", "", "<div style='position:relative'>SECRET<div style='position:absolute;inset:0;backdrop-filter:blur(40px)'></div></div>"),
    ("bdblurshown", "", "<div style='position:relative'>SECRET<div style='position:absolute;inset:0;backdrop-filter:blur(0)'></div></div>"),
    ("bdfilshown", "", "<div style='position:relative'>SECRET<div style='position:absolute;inset:0;backdrop-filter:opacity(0)'></div></div>"),
    ("phhidden", "<style>::placeholder{color:transparent}</style>", "<input placeholder='SECRET'>"),
    ("coverpar", "", "<div style='position:relative'>SECRET<div style='position:absolute;inset:0'><div style='background:#fff;height:100%'></div></div></div>"),
    ("tdmaxshown", "", "<table width=100%><tr><td style='max-width:0;overflow:hidden;white-space:nowrap;width:100%'>SECRET</table>"),
    ("tblfixed", "", "<table style='table-layout:fixed;width:300px'><tr><td style='width:300px'>x<td style='width:0;padding:0;overflow:hidden;white-space:nowrap'>SECRET</table>"),
    ("marqh", "", "<marquee height=0>SECRET</marquee>"),
    ("marqbg", "", "<marquee bgcolor=black scrollamount=0 behavior=alternate><font color=black>SECRET</font></marquee>"),
    ("detname", "", "<details open name=a><summary>x</summary>x</details><details open name=a><summary>s</summary>SECRET</details>"),
    ("detnameshown", "", "<details name=a><summary>x</summary>x</details><details open name=a><summary>s</summary>SECRET</details>"),
    ("langmeta", "<meta http-equiv=content-language content=xx><style>:lang(xx) p.x{display:none}</style>", "<p class=x>SECRET</p>"),
    ("colp3l", "", "<p style='color:color(display-p3-linear 1 1 1)'>SECRET</p>"),
    ("colsov2", "", "<div style='columns:100px;height:20px;overflow:hidden;width:100px'>aaa bbb ccc ddd eee fff SECRET</div>"),
    ("flexwrap", "", "<div style='display:flex;flex-wrap:wrap;height:20px;overflow:hidden;width:300px'><div style='width:300px;height:20px'>x</div><div>SECRET</div></div>"),
    ("env", "<style>.x{display:env(nothing,none)}</style>", "<p class=x>SECRET</p>"),
    ("envsafe", "<style>.x{height:env(safe-area-inset-top,30px);overflow:hidden}</style>", "<p class=x>SECRET</p>"),
    ("csmeta", "<meta name=color-scheme content=dark>", "<p style='color:#121212'>SECRET</p>"),
    ("bgclearshown", "", "<div style='background:#036;color:#fff'><div style='float:left;width:50%'>SECRET</div><div style='float:left'>x</div><div style='clear:both'></div></div>"),
    ("bgclearfixshown", "<style>.c::after{content:'';display:table;clear:both}</style>", "<div class=c style='background:#036;color:#fff'><div style='float:left'>SECRET</div></div>"),
    ("bgcellshown", "", "<table><tr><td style='background:#036'><div style='float:left;color:#fff'>SECRET</div></table>"),
    ("bgpadshown", "", "<div style='background:#036;color:#fff;position:relative;padding:40px 0'><span style='position:absolute;top:20px;left:9px'>SECRET</span></div>"),
    ("bghero", "", "<div style='background:#036;color:#fff;position:relative;height:60px'><span style='position:absolute;top:200px;left:9px'>SECRET</span></div>"),
    ("bgheroshown", "", "<div style='background:#036;color:#fff;position:relative;height:90px'><h1 style='position:absolute;top:5px;left:9px'>SECRET</h1></div>"),
    ("bgnudgeshown", "", "<div style='background:#036;color:#fff'>x <span style='position:relative;top:-2px'>SECRET</span></div>"),
    ("bgimgfloatshown", "", "<div style='background:#036;color:#fff'><img width=80 height=60 style='float:left' alt=''>SECRET<p style='clear:left'>x</p></div>"),
    ("bgsmall", "", '<div style="color:#fff;background:linear-gradient(#000,#000) no-repeat right bottom/4px 4px">SECRET</div>'),
    ("bgcovershown", "", '<div style="color:#fff;background:linear-gradient(#000,#333) no-repeat center/cover">SECRET</div>'),
    ("flexwrapshown", "", "<div style='display:flex;flex-wrap:wrap;height:60px;overflow:hidden;width:300px'><div style='width:300px;height:20px'>x</div><div>SECRET</div></div>"),
    ("flexflow", "", "<div style='display:flex;flex-flow:row wrap;height:20px;overflow:hidden;width:300px'><div style='width:300px;height:20px'>x</div><div>SECRET</div></div>"),
    ("flexcolsshown", "", "<div style='display:flex;width:600px'><div style='width:300px'>x</div><div style='flex:1 1 0;overflow:hidden'>SECRET</div></div>"),
    ("colsshown", "", "<div style='columns:2;height:60px;overflow:hidden;width:600px'>aaa bbb SECRET</div>"),
    ("valignshown", "", "<div style='height:40px;overflow:hidden'>x<span style='vertical-align:-2px'>SECRET</span></div>"),
    ("valignup", "", "<div style='height:40px;overflow:hidden'><span style='vertical-align:200px'>x</span>SECRET</div>"),
    ("floatclipshown", "", "<div style='height:40px;overflow:hidden'><div style='float:left;width:40%;height:300px'></div>SECRET</div>"),
    ("pdtypedshown", "<style>@property --c{syntax:'<color>';inherits:true;initial-value:#fff}</style>", "<div style='--c:#222;color:var(--c)'>SECRET</div>"),
    ("fontadjshown", "<style>@font-face{font-family:x;src:local('DejaVu Sans'),local('Liberation Sans');size-adjust:95%}</style>", "<p style='font-family:x'>SECRET</p>"),
    ("phshown", "<style>::placeholder{color:#777}</style>", "<input placeholder='SECRET'>"),
    ("phop", "<style>::placeholder{opacity:0}</style>", "<input placeholder='SECRET'>"),
    ("coverbadgeshown", "", "<div style='position:relative'>SECRET and more<div style='position:absolute;right:0;top:0'><div style='background:#c00;width:24px;height:24px'></div></div></div>"),
    ("tblfixedshown", "", "<table style='table-layout:fixed;width:300px'><tr><td style='width:100px'>x<td style='overflow:hidden'>SECRET</table>"),
    ("langshown", "<meta http-equiv=content-language content=en-GB><style>:lang(fr) p.x{display:none}</style>", "<p class=x>SECRET</p>"),
    ("colp3lshown", "", "<p style='color:color(display-p3 .2 .2 .2)'>SECRET</p>"),
    ("envpadshown", "<style>.x{padding-top:env(safe-area-inset-top);height:40px;overflow:hidden}</style>", "<p class=x>SECRET</p>"),
    ("envmaxshown", "<style>.x{padding:max(12px,env(safe-area-inset-left,20px))}</style>", "<p class=x>SECRET</p>"),
    ("envnoneshown", "<style>.x{display:none;display:env(nothing)}</style>", "<p class=x>SECRET</p>"),
]

# The same without a document type.
QUIRKS = [
    ("caseq", "<style>.HIDE{display:none}</style>", "<p class=hide>SECRET</p>"),
    ("quirkscolor", "", "<p style='color:ffffff'>SECRET</p>"),
    ("quirkssheetcolor", "<style>.x{color:ffffff}</style>", "<p class=x>SECRET</p>"),
    ("tablefont", "<div style='font-size:0'>", "<table><tr><td>SECRET</table></div>"),
]

# Cases in which browsers differ, or that mail programs take out of the page.
EITHER = {
    "hiding/fontem": "sizes in em and % are drawn at 6 pixels by Chromium, as they are by others",
    "hiding/fontpc": "the same",
    "page/shadowtext": "mail programs take shadow trees out, Chromium draws them",
    "page/shadowdom": "the same",
    "page/ls1em": "its signs lie on each other: they are drawn, and nobody can read them",
}


def page(head, body, doctype="<!DOCTYPE html>"):
    """A whole page, with a word before and one after."""
    return f"{doctype}<html><head>{head}</head><body><p>before</p>{body}<p>after</p></body></html>"


def cases():
    """All cases: a name and a page."""
    lines = [("hiding", line) for line in HIDING] + [("showing", line) for line in SHOWING]
    for at, (kind, line) in enumerate(lines):
        name, css = line.split("|", 1)
        before, after = WRAPPED.get(name, ("", "")) if kind == "hiding" else ("", "")
        yield f"{kind}/{name}", page("", before + own(css) + after)
        head, body = WAYS[at % len(WAYS)](css)
        yield f"{kind}/{name}/{at % len(WAYS)}", page(head, before + body + after)
    for name, head, body in STRUCTURES:
        yield f"page/{name}", page(head, body)
    for name, head, body in QUIRKS:
        yield f"quirks/{name}", page(head, body, "")
