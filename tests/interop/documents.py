"""Interop part: files that others write, read as text by `mail_attachment as=text`.

    documents.py BINARY

openpyxl, python-docx, python-pptx, odfpy, reportlab and LibreOffice write files, which come as
attachments of messages in the sandbox. What Daysheet reads of each is compared with what the
file was made of, and with what pdftotext or LibreOffice's own export reads of it: 98 % of their
words. Words that begin with `UNSEEN` are hidden in the ways of each writer: none may come;
those that begin with `SEEN` look like tricks and are seen: all have to come.
"""

import collections
import email.message
import inspect
import io
import json
import os
import re
import subprocess
import sys
import tempfile
import unicodedata

import docx
import odf.opendocument
import odf.style
import odf.table
import odf.text
import openpyxl
import pptx
from docx.oxml import OxmlElement
from docx.shared import Pt, RGBColor
from openpyxl.styles import Font
from pptx.util import Inches
from reportlab.lib import colors, pagesizes
from reportlab.lib.styles import getSampleStyleSheet
from reportlab.lib.units import mm
from reportlab.pdfgen import canvas
from reportlab.platypus import BaseDocTemplate, Frame, PageTemplate, Paragraph, Table

import interop

checks = interop.Checks("documents")

RECALL = 0.98
TEXT = (
    "The lamp is made of brass, gives a warm light and needs no tools to be mounted. Whoever "
    "orders before noon gets it on the next working day: Émilie in Köln, Юлия in Київ. "
)
ROWS = [["Item", "Quantity", "Ordered", "Note"]] + [
    [f"Lamp {n}", n * 7, f"2026-11-{n:02}", f"shelf {n} of the store in Łódź"] for n in range(1, 25)
]


def words(text):
    """The words of a text, each with how often it comes."""
    return collections.Counter(re.findall(r"\w+", unicodedata.normalize("NFKC", text)))


# What the writers write ------------------------------------------------------


def saved(document):
    """The bytes of what has a method `save`."""
    data = io.BytesIO()
    document.save(data)
    return data.getvalue()


def pdf_columns():
    data = io.BytesIO()
    wide, high = pagesizes.A4
    half = (wide - 50 * mm) / 2
    document = BaseDocTemplate(data)
    document.addPageTemplates(PageTemplate(frames=[
        Frame(20 * mm + at * (half + 10 * mm), 20 * mm, half, high - 40 * mm) for at in (0, 1)
    ]))
    body = getSampleStyleSheet()["BodyText"]
    document.build([Paragraph(f"<b>{n}.</b> {TEXT.replace('Юлия in Київ', 'Zoë in Århus')}{TEXT[:80]}", body)
                    for n in range(40)])
    return data.getvalue()


def pdf_table():
    data = io.BytesIO()
    document = BaseDocTemplate(data)
    document.addPageTemplates(PageTemplate(frames=[Frame(20 * mm, 20 * mm, 170 * mm, 250 * mm)]))
    document.build([Table([[str(cell).replace("Łódź", "Köln") for cell in row] for row in ROWS])])
    return data.getvalue()


def pdf_hidden():
    data = io.BytesIO()
    page = canvas.Canvas(data)
    page.drawString(60, 780, "SEENplain")
    page.setFillColor(colors.white)
    page.drawString(60, 760, "UNSEENwhite")
    page.setFillColor(colors.navy)
    page.rect(50, 715, 300, 30, fill=1)
    page.setFillColor(colors.white)
    page.drawString(60, 725, "SEENwhite")
    page.setFillColor(colors.black)
    text = page.beginText(60, 700)
    text.setTextRenderMode(3)
    text.textLine("UNSEENmode")
    text.setTextRenderMode(1)
    text.textLine("SEENoutline")
    text.setTextRenderMode(0)
    page.drawText(text)
    page.setFont("Helvetica", 0.5)
    page.drawString(60, 660, "UNSEENtiny")
    page.setFont("Helvetica", 5)
    page.drawString(60, 650, "SEENsmall")
    page.setFont("Helvetica", 12)
    page.drawString(60, 900, "UNSEENabove")
    page.drawString(-200, 600, "UNSEENleft")
    page.drawString(60, 610, "UNSEENcovered")
    page.setFillColor(colors.lightgrey)
    page.rect(50, 600, 300, 30, fill=1, stroke=0)
    page.setFillColor(colors.black)
    page.drawString(60, 605, "SEENover")
    page.saveState()
    clip = page.beginPath()
    clip.rect(0, 0, 30, 30)
    page.clipPath(clip, stroke=0)
    page.drawString(60, 560, "UNSEENclipped")
    page.restoreState()
    page.setFillAlpha(0.02)
    page.drawString(60, 540, "UNSEENtransparent")
    page.setFillAlpha(0.5)
    page.drawString(60, 520, "SEENhalf")
    page.save()
    return data.getvalue()


def word():
    document = docx.Document()
    document.add_heading("Minutes of the meeting", 1)
    for _ in range(6):
        document.add_paragraph(TEXT * 3)
    document.add_paragraph("First point", style="List Number")
    document.add_paragraph("A point in Łódź", style="List Bullet")
    table = document.add_table(rows=0, cols=len(ROWS[0]))
    for row in ROWS:
        for cell, value in zip(table.add_row().cells, row):
            cell.text = str(value)
    return saved(document)


def word_hidden():
    document = docx.Document()
    document.add_paragraph("SEENplain")
    run = document.add_paragraph().add_run("UNSEENvanish")
    run.font.hidden = True
    run = document.add_paragraph().add_run("UNSEENwhite")
    run.font.color.rgb = RGBColor(255, 255, 255)
    run = document.add_paragraph().add_run("UNSEENtiny")
    run.font.size = Pt(1)
    run = document.add_paragraph().add_run("SEENred")
    run.font.color.rgb = RGBColor(200, 0, 0)
    run = document.add_paragraph().add_run("SEENsmall")
    run.font.size = Pt(6)
    deleted = OxmlElement("w:del")
    part = OxmlElement("w:r")
    gone = OxmlElement("w:delText")
    gone.text = "UNSEENdeleted"
    part.append(gone)
    deleted.append(part)
    document.add_paragraph("SEENbefore").paragraph_format.element.append(deleted)
    return saved(document)


def sheet():
    book = openpyxl.Workbook()
    book.active.title = "Stock"
    for row in ROWS:
        book.active.append(row)
    for column in "ABCD":
        book.active.column_dimensions[column].width = 30
    return saved(book)


def sheet_hidden():
    book = openpyxl.Workbook()
    own = book.active
    for row in [["SEENhead", "SEENsecond", "UNSEENcolumn", "SEENlast"], ["SEENa", "b", "UNSEENb", "c"],
                ["UNSEENrow", "b", "c", "d"], ["SEENd", "UNSEENwhite", "UNSEENd", "SEENend"]]:
        own.append(row)
    own.column_dimensions["C"].hidden = True
    own.row_dimensions[3].hidden = True
    own["B4"].font = Font(color="FFFFFFFF")
    other = book.create_sheet("Other")
    other.append(["UNSEENsheet"])
    other.sheet_state = "hidden"
    return saved(book)


def slides():
    show = pptx.Presentation()
    for n in range(1, 5):
        slide = show.slides.add_slide(show.slide_layouts[1])
        slide.shapes.title.text = f"Slide {n}: lamps for Köln"
        slide.placeholders[1].text = TEXT
    return saved(show)


def slides_hidden():
    show = pptx.Presentation()
    for n, text in enumerate(["SEENslide", "UNSEENslide"]):
        slide = show.slides.add_slide(show.slide_layouts[5])
        slide.shapes.title.text = text
        if n:
            slide._element.set("show", "0")
        else:
            slide.shapes.add_textbox(Inches(-9), Inches(1), Inches(2), Inches(1)).text_frame.text = "UNSEENoff"
    return saved(show)


def writer():
    document = odf.opendocument.OpenDocumentText()
    document.text.addElement(odf.text.H(outlinelevel=1, text="A letter to Łódź"))
    for _ in range(8):
        document.text.addElement(odf.text.P(text=TEXT))
    return saved(document)


def writer_hidden():
    document = odf.opendocument.OpenDocumentText()
    style = odf.style.Style(name="gone", family="text")
    style.addElement(odf.style.TextProperties(display="none"))
    document.automaticstyles.addElement(style)
    line = odf.text.P(text="SEENplain ")
    line.addElement(odf.text.Span(stylename=style, text="UNSEENstyle"))
    document.text.addElement(line)
    return saved(document)


def calc():
    document = odf.opendocument.OpenDocumentSpreadsheet()
    table = odf.table.Table(name="Stock")
    for row in ROWS:
        line = odf.table.TableRow()
        for value in row:
            kind = {"valuetype": "float", "value": value} if isinstance(value, int) else {"valuetype": "string"}
            cell = odf.table.TableCell(**kind)
            cell.addElement(odf.text.P(text=str(value)))
            line.addElement(cell)
        table.addElement(line)
    document.spreadsheet.addElement(table)
    return saved(document)


# Name, writer, and the endings LibreOffice converts it to: as further files to read.
FILES = [
    ("columns.pdf", pdf_columns, []),
    ("table.pdf", pdf_table, []),
    ("hidden.pdf", pdf_hidden, []),
    ("minutes.docx", word, ["pdf", "odt", "rtf"]),
    ("hidden.docx", word_hidden, ["odt"]),
    ("stock.xlsx", sheet, ["pdf", "ods"]),
    ("hidden.xlsx", sheet_hidden, []),
    ("lamps.pptx", slides, ["pdf", "odp"]),
    ("hidden.pptx", slides_hidden, []),
    ("letter.odt", writer, ["pdf", "docx"]),
    ("hidden.odt", writer_hidden, []),
    ("stock2.ods", calc, ["pdf", "xlsx"]),
]


# What others read --------------------------------------------------------------


def converted(folder, names, form):
    """Has LibreOffice write files in another form; returns their paths by name."""
    out = tempfile.mkdtemp(dir=folder)
    if names:
        subprocess.run(
            ["soffice", f"-env:UserInstallation=file://{folder}/profile", "--headless", "--convert-to",
             form, "--outdir", out, *[os.path.join(folder, name) for name in names]],
            check=True, capture_output=True, timeout=300,
        )
    ending = form.split(":")[0]
    return {name: os.path.join(out, f"{os.path.splitext(name)[0]}.{ending}") for name in names}


def references(folder, names):
    """The texts that somebody else reads of files."""
    def of(*endings):
        return [name for name in names if name.rsplit(".", 1)[1] in endings]

    paths = converted(folder, of("docx", "odt", "rtf"), "txt:Text (encoded):UTF8")
    paths |= converted(folder, of("xlsx", "ods"), "csv:Text - txt - csv (StarCalc):44,34,76")
    pages = converted(folder, of("pptx", "odp"), "pdf") | {
        name: os.path.join(folder, name) for name in of("pdf")}
    texts = {}
    for name, path in paths.items():
        with open(path, encoding="utf-8-sig") as file:
            texts[name] = file.read()
    for name, path in pages.items():
        done = subprocess.run(["pdftotext", "-layout", path, "-"], check=True, capture_output=True)
        texts[name] = done.stdout.decode()
    return texts


def main():
    daysheet = interop.Daysheet(sys.argv[1])
    folder, mail = interop.temp_folder("files"), interop.temp_folder("mail")
    names = []
    with checks.section("the writers"):
        for name, write, _ in FILES:
            with open(os.path.join(folder, name), "wb") as file:
                file.write(write())
            names.append(name)
        for form in ("pdf", "odt", "rtf", "docx", "xlsx", "ods", "odp"):
            own = [name for name, _, forms in FILES if form in forms]
            for name, path in converted(folder, own, form).items():
                names.append(f"{name.split('.')[0]}-of-{name.split('.')[1]}.{form}")
                os.rename(path, os.path.join(folder, names[-1]))
    for at, name in enumerate(names):
        message = email.message.EmailMessage()
        message["From"], message["To"] = "Ada <ada@example.org>", "mira@example.com"
        message["Subject"], message["Message-ID"] = f"File {name}", f"<{at}@example.org>"
        message["Date"] = f"Mon, 16 Nov 2026 09:{at:02}:00 +0100"
        message.set_content("See the file.")
        with open(os.path.join(folder, name), "rb") as file:
            message.add_attachment(file.read(), maintype="application", subtype="octet-stream", filename=name)
        with open(os.path.join(mail, f"{at:02}.eml"), "wb") as file:
            file.write(message.as_bytes())

    sandbox = ["--sandbox", "--mail", mail]
    texts = collections.defaultdict(str)
    with checks.section("the calls"):
        def document(tool, arguments):
            done = daysheet.run("call", tool, json.dumps(arguments), "--format", "json", *sandbox)
            if done.returncode != 0:
                raise interop.CallFailed(done.stdout + done.stderr)
            return json.loads(interop.first_block(done.stdout))

        found = document("mail_search", {"limit": 100})["messages"]
        checks.same("every message is there", len(found), len(names))
        for row in found:
            read = document("mail_attachment", {"ids": [row["id"]], "as": "text", "budget": 100000})
            for text in read["texts"]:
                texts[text["name"]] += "\n" + (text.get("text") or "")

    others = {}
    with checks.section("the other readers"):
        others = references(folder, [name for name in names if "hidden" not in name])
    for name in names:
        with checks.section(name):
            got = words(texts[name])
            if "hidden" in name:
                write = {own: write for own, write, _ in FILES}.get(name, word_hidden)
                seen = set(re.findall(r"\bSEEN\w+", inspect.getsource(write)))
                checks.that(f"{name}: all that is seen is read", seen <= set(got), seen - set(got))
                unseen = [one for one in got if "UNSEEN" in one]
                checks.that(f"{name}: nothing that is hidden is read", not unseen, unseen)
                continue
            want = words(others.get(name, ""))
            recall = sum((want & got).values()) / max(1, sum(want.values()))
            detail = f"{recall:.4f} of {sum(want.values())}; missing {list((want - got).items())[:12]}"
            checks.that(f"{name}: {RECALL:.0%} of the words", want and recall >= RECALL, detail)
    checks.close()


if __name__ == "__main__":
    main()
