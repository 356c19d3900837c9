"""The page of cocabo serve and of cocabo report in a real browser."""

import ast
import json
import re
import shlex
import subprocess
import threading
import time
from urllib.parse import urlparse

import cocabo
import pictures
import pytest
from axe_playwright_python.sync_playwright import Axe
from cocabo import Float
from conftest import BUILD, PROGRAM, Server, Visitor
from playwright.sync_api import expect

MOST_BYTES = 300 * 1000


def best_of(store, name):
    return cocabo.load_study(name, storage=store).best_trial


def failed_of(store, name):
    """Its trials that failed."""
    return [t for t in cocabo.load_study(name, storage=store).trials if t.state == "failed"]


def rows(page):
    """The lines of the table that are there, as dicts by the heads of the columns."""
    see(page, "Trials")
    return page.evaluate("""() => {
      const heads = [...document.querySelectorAll(".trials thead th")].map((h) => h.textContent);
      return [...document.querySelectorAll(".trials tbody tr[aria-rowindex]")].map((r) =>
        Object.fromEntries([...r.children].map((c, i) => [heads[i], c.textContent])));
    }""")


def picture(page, heading):
    """The pixels of a panel's first canvas, as a text to compare."""
    return page.evaluate("""(heading) => {
      const of = (p) => p.querySelector("h2").textContent;
      const panel = [...document.querySelectorAll(".panel")].find((p) => of(p) === heading);
      return panel.querySelector("canvas").toDataURL();
    }""", heading)


def settle(page):
    """Until everything in sight has been drawn: two views a frame."""
    page.evaluate("""async () => {
      for (let i = 0; i < 10; i++) await new Promise((done) => requestAnimationFrame(done));
    }""")


def see(page, heading):
    page.get_by_role("region", name=heading, exact=True).evaluate("(p) => p.scrollIntoView()")
    settle(page)


def await_contour(page):
    """Until the model has answered; it is asked when the panel is in sight."""
    see(page, "Two parameters")
    panel = page.get_by_role("region", name="Two parameters", exact=True)
    expect(panel).to_contain_text("by the model")


def inked(page, heading, name):
    """How many pixels of a panel's picture have the ink of that name."""
    return page.evaluate("""([heading, name]) => {
      const of = (p) => p.querySelector("h2").textContent;
      const panel = [...document.querySelectorAll(".panel")].find((p) => of(p) === heading);
      const canvas = panel.querySelector("canvas");
      const root = getComputedStyle(document.documentElement);
      const n = parseInt(root.getPropertyValue(name).trim().slice(1), 16);
      const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
      let found = 0;
      for (let i = 0; i < data.length; i += 4)
        if (((data[i] << 16) | (data[i + 1] << 8) | data[i + 2]) === n) found++;
      return found;
    }""", [heading, name])


def drag_axis(page, index, begin, end):
    """Brushes an axis of the parallel coordinates between two shares of its height."""
    see(page, "Parallel coordinates")
    box = page.locator(".strip").nth(index).bounding_box()
    x, top, height = box["x"] + box["width"] / 2, box["y"] + 32, 280
    page.mouse.move(x, top + begin * height)
    page.mouse.down()
    for k in range(1, 5):
        page.mouse.move(x, top + (begin + (end - begin) * k / 4) * height)
    page.mouse.up()
    page.wait_for_selector(".chip")
    settle(page)


# ---- looking ---------------------------------------------------------------------------


def test_the_list_shows_every_study_with_its_best_and_its_curve(visitor, store):
    page = visitor.open()
    page.wait_for_selector(".studies tbody tr")
    names = page.locator(".studies tbody th a").all_text_contents()
    assert names == cocabo.study_names(store)
    line = page.locator(".studies tbody tr").first
    assert f"{best_of(store, 'svm').value:.6g}" in line.text_content()
    failed = len(failed_of(store, "svm"))
    assert failed > 0 and f"60 ({failed} failed)" in line.text_content()
    page.locator(".spark path").nth(5).wait_for()


def test_a_study_shows_what_it_is_and_what_is_best(visitor, store):
    page = visitor.study("svm")
    best = best_of(store, "svm")
    assert page.locator("h1").text_content() == "svm"
    facts = page.locator(".facts").text_content()
    complete = 60 - len(failed_of(store, "svm"))
    assert "minimised" in facts and f"{complete} complete" in facts and "ms < 45" in facts
    assert page.locator(".big strong").text_content() == f"{best.value:.6g}"
    shown = dict(zip(page.locator(".params dt").all_text_contents(),
                     page.locator(".params dd").all_text_contents()))
    assert shown["kernel"] == best.params["kernel"] and "degree" not in shown
    assert inked(page, "History", "--marked") > 200  # the line, crosses and the diamond
    page.wait_for_selector(".believed dd")
    assert "P(feasible)" in page.locator(".believed").text_content()


def test_every_panel_has_its_picture(visitor):
    page = visitor.study("svm")
    for heading in ["Parallel coordinates", "Two parameters", "Slices", "Categories over time",
                    "Metrics and constraints", "Intermediate values", "Timeline"]:
        see(page, heading)
        drawn = picture(page, heading)
        assert len(drawn) > 1500, heading
    page.wait_for_selector(".bars li")
    assert page.locator(".bars li").count() == 6
    await_contour(page)


def test_repeats_have_a_median_and_a_band(visitor):
    page = visitor.study("noisy")
    assert "median and quartiles of repeats" in page.locator(".legend").text_content()


def test_the_best_of_noisy_trials_is_the_one_that_the_program_names(visitor, store):
    said = json.loads(subprocess.run(
        [PROGRAM, "best", "--storage", f"sqlite:///{store}", "--study", "noisy", "--json"],
        check=True, capture_output=True, text=True).stdout)
    page = visitor.study("noisy")
    expect(page.locator(".big")).to_contain_text(f"trial {said['number']}")
    expect(page.locator(".big strong")).to_have_text(f"{said['expected']:.4g}")
    assert f"measured {said['value']:.6g}" in page.locator(".big").text_content()
    assert f"± {said['expected_se']:.2g}" in page.locator(".believed").text_content()
    assert "luckiest so far" in page.locator(".legend").text_content()
    page.get_by_role("searchbox").fill(f"trial={said['number']}")
    see(page, "Trials")
    expect(page.locator(".trials tr.best")).to_have_count(1)


def test_a_study_without_trials_says_so(visitor):
    page = visitor.open("#/study/new")
    page.wait_for_selector(".empty")
    assert "No trials yet" in page.locator("main").text_content()


def test_a_study_that_is_not_there_is_said(chromium, server):
    visitor = Visitor(chromium, server.address)
    page = visitor.open("#/study/nothing")
    page.wait_for_selector(".empty")
    assert "nothing" in page.locator(".empty").text_content()
    visitor.context.close()


# ---- live ------------------------------------------------------------------------------


def test_the_curve_grows_while_a_study_runs(visitor, store):
    study = cocabo.create_study({"x": Float(-1, 1), "y": Float(-1, 1)}, name="running",
                                storage=store, sampler="random", seed=1)
    go = threading.Event()

    def bowl(trial):
        go.wait(0.02)
        return trial["x"] ** 2 + trial["y"] ** 2

    study.optimize(bowl, n_trials=5)
    page = visitor.study("running")
    page.evaluate("window.here = true")
    settle(page)
    before, first = picture(page, "History"), page.locator(".big strong").text_content()
    thread = threading.Thread(target=lambda: study.optimize(bowl, n_trials=60))
    thread.start()
    expect(page.locator(".facts")).to_contain_text("65 complete", timeout=20000)
    thread.join()
    settle(page)
    assert page.evaluate("window.here") is True  # it was never loaded again
    assert picture(page, "History") != before
    expect(page.locator(".big strong")).to_have_text(f"{study.best_value:.6g}")
    assert float(first) >= study.best_value
    assert page.locator("#live").text_content() == "live"
    visitor.deleted = True
    cocabo.delete_study("running", storage=store)
    page.wait_for_selector("text=This study was deleted.")


def test_a_lost_server_is_said_and_found_again(chromium, store):
    server = Server(store)
    visitor = Visitor(chromium, server.address)
    page = visitor.study("svm")
    expect(page.locator("#live")).to_have_text("live")
    server.end()
    expect(page.locator("#live")).to_have_text("reconnecting")
    server = Server(store, port=urlparse(server.address).port)
    expect(page.locator("#live")).to_have_text("live", timeout=20000)
    visitor.context.close()
    server.end()


# ---- selecting -------------------------------------------------------------------------


def test_brushing_an_axis_filters_every_other_view(visitor):
    page = visitor.study("svm")
    views = ["History", "Two parameters", "Slices", "Categories over time",
             "Metrics and constraints", "Intermediate values", "Timeline"]
    for heading in views:
        see(page, heading)
    await_contour(page)
    page.wait_for_timeout(500)  # all that the model was asked
    before = {}
    for heading in views:
        see(page, heading)
        before[heading] = picture(page, heading)
    drag_axis(page, 0, 0.72, 1.02)  # the lower part of the values
    chip = page.locator(".chip").text_content()
    low, high = map(float, re.search(r"([\d.−e-]+) to ([\d.e-]+)", chip.replace("−", "-")).groups())
    for heading in views:
        see(page, heading)
        assert picture(page, heading) != before[heading], heading
    values = [float(r["value"]) for r in rows(page)]
    assert values and all(low - 1e-3 <= v <= high + 1e-3 for v in values)
    said = page.locator(".chips b").text_content()
    assert int(said.split(" ")[0]) < 60
    page.get_by_role("button", name="clear all").click()
    page.wait_for_selector(".chips", state="hidden")
    for heading in views:
        see(page, heading)
        assert picture(page, heading) == before[heading], heading


def test_categories_and_what_is_inactive_are_brushed_by_a_click(visitor):
    page = visitor.study("svm")
    see(page, "Parallel coordinates")
    box = page.locator(".strip").nth(1).bounding_box()  # kernel: linear, poly, rbf upwards
    page.mouse.click(box["x"] + 18, box["y"] + 32 + 280 / 6)
    page.wait_for_selector(".chip")
    assert page.locator(".chip").text_content().startswith("kernel rbf")
    assert {r["kernel"] for r in rows(page)} == {"rbf"}
    page.locator(".chip").click()
    page.wait_for_selector(".chip", state="detached")
    see(page, "Parallel coordinates")
    box = page.locator(".strip").nth(4).bounding_box()  # degree
    page.mouse.click(box["x"] + 18, box["y"] + 32 + 280 + 26)
    page.wait_for_selector(".chip")
    assert "degree inactive" in page.locator(".chip").text_content()
    assert {r["degree"] for r in rows(page)} == {""}
    assert "poly" not in {r["kernel"] for r in rows(page)}


def test_axes_are_brushed_by_keys(visitor):
    page = visitor.study("svm")
    strip = page.get_by_role("slider", name="selected range of C", exact=True)
    strip.focus()
    page.keyboard.press("ArrowUp")
    page.wait_for_selector(".chip")
    first = page.locator(".chip").text_content()
    page.keyboard.press("ArrowUp")
    expect(page.locator(".chip")).not_to_have_text(first)
    assert "to" in strip.get_attribute("aria-valuetext")
    page.keyboard.press("Escape")
    page.wait_for_selector(".chip", state="detached")
    assert strip.get_attribute("aria-valuetext") is not None


def test_dragging_across_the_history_selects_trials(visitor):
    page = visitor.study("svm")
    box = page.locator(".u-over").bounding_box()
    page.mouse.move(box["x"] + 0.5 * box["width"], box["y"] + 80)
    page.mouse.down()
    page.mouse.move(box["x"] + 0.6 * box["width"], box["y"] + 80)
    page.mouse.move(box["x"] + 0.9 * box["width"], box["y"] + 90)
    page.mouse.up()
    page.wait_for_selector(".chip")
    chip = page.locator(".chip").text_content()
    low, high = map(int, re.search(r"trial (\d+) to (\d+)", chip).groups())
    assert 29 <= low <= 31 and 51 <= high <= 54
    assert all(low <= int(r["trial"]) <= high for r in rows(page))


def test_every_control_is_reached_by_tab_and_shows_it(visitor):
    page = visitor.study("svm")
    for heading in ["Slices", "Timeline", "Trials"]:
        see(page, heading)
    await_contour(page)
    page.evaluate("scrollTo(0, 0)")
    page.wait_for_selector(".believed dd")  # what is known changes the panel once more
    page.wait_for_timeout(500)
    settle(page)
    controls = page.evaluate("""() => {
      const kinds = "a[href], button, select, input, [tabindex]";
      const all = [...document.querySelectorAll(kinds)].filter(
        (e) => e.tabIndex >= 0 && e.checkVisibility() && !e.disabled);
      all.forEach((e, i) => e.dataset.control = i);
      return all.map((e) => e.getAttribute("aria-label") || e.textContent.slice(0, 30));
    }""")
    assert len(controls) > 25
    reached, faint = set(), []
    for _ in range(len(controls) + 5):
        page.keyboard.press("Tab")
        at, ring, label = page.evaluate("""() => {
          const e = document.activeElement, look = getComputedStyle(e);
          const ring = look.outlineStyle !== "none" && parseFloat(look.outlineWidth) >= 1;
          return [e.dataset.control, ring, e.getAttribute("aria-label") || e.textContent];
        }""")
        if at is not None:
            reached.add(int(at))
            faint += [label] * (not ring)
    missed = [controls[i] for i in range(len(controls)) if i not in reached]
    assert (missed, faint) == ([], [])


# ---- the table -------------------------------------------------------------------------


def test_the_table_sorts_both_ways(visitor):
    page = visitor.study("svm")
    see(page, "Trials")
    head = page.locator(".trials thead").get_by_role("button", name="value", exact=True)
    head.click()
    settle(page)
    values = [r["value"] for r in rows(page)]
    numbers = [float(v) for v in values if v != "–"]
    assert len(numbers) > 10 and numbers == sorted(numbers)
    head.click()
    settle(page)
    numbers = [float(r["value"]) for r in rows(page) if r["value"] != "–"]
    assert numbers == sorted(numbers, reverse=True)
    assert page.locator("th[aria-sort=descending]").text_content() == "value"


def test_the_filter_finds_failures_with_their_reasons(visitor, store):
    page = visitor.study("svm")
    box = page.get_by_role("searchbox", name="filter trials")
    box.fill("state=failed C>0.01")
    page.wait_for_selector(".chip")
    settle(page)
    found = rows(page)
    large = {t.number for t in failed_of(store, "svm") if t.params["C"] > 0.01}
    assert large and {int(r["trial"]) for r in found} == large
    assert {r["state"] for r in found} == {"failed"}
    assert {r["reason"] for r in found} == {"did not converge"}
    box.fill(f"trial={found[0]['trial']}")  # names are those of the table's heads
    expect(page.locator(".chips b")).to_contain_text("1 of 60")
    box.fill("colour=red")
    expect(page.locator(".problem")).to_have_text("there is nothing named colour")
    box.fill("kernel!=rbf converge")
    expect(page.locator(".problem")).to_have_text("")
    settle(page)
    assert all(r["kernel"] != "rbf" for r in rows(page))


def test_a_trial_of_the_table_is_shown_in_full(visitor):
    page = visitor.study("svm")
    page.get_by_role("searchbox").fill("state=failed")
    page.wait_for_selector(".chip")
    settle(page)
    number = rows(page)[0]["trial"]
    page.get_by_role("button", name=f"show trial {number}", exact=True).click()
    page.wait_for_selector(f"h2:text-is('Trial {number}')")
    assert "did not converge" in page.locator(".reason").text_content()
    page.get_by_role("button", name="close").click()
    page.wait_for_selector(".picked-card", state="hidden")


def test_the_table_is_one_stop_and_arrows_move_through_it(visitor):
    page = visitor.study("svm")
    see(page, "Trials")
    held = "document.activeElement.getAttribute('aria-label')"
    page.locator(".trials thead button").last.focus()
    page.keyboard.press("Tab")
    assert page.evaluate(held) == "show trial 59"
    for k in range(1, 56):  # rows come into sight and go while the focus moves
        page.keyboard.press("ArrowDown")
        settle(page) if k % 10 == 0 else None
        assert page.evaluate(held) == f"show trial {59 - k}"
    box = page.locator(".table-scroller").bounding_box()
    row = page.locator("button:focus").bounding_box()
    assert box["y"] <= row["y"] <= box["y"] + box["height"]
    page.keyboard.press("Home")
    settle(page)
    assert page.evaluate(held) == "show trial 59"
    page.keyboard.press("Enter")
    page.wait_for_selector("h2:text-is('Trial 59')")
    settle(page)
    assert page.evaluate(held) == "show trial 59"
    page.keyboard.press("Tab")  # and on: the rows are no trap
    assert not page.evaluate(held).startswith("show trial")


def test_only_rows_in_sight_are_elements(visitor, store):
    study = cocabo.create_study({"x": Float(0, 1)}, name="long", storage=store, sampler="random")
    study.add_trials({"params": {"x": i / 3000}, "value": float(i)} for i in range(3000))
    page = visitor.study("long")
    see(page, "Trials")
    assert page.locator(".trials tbody tr").count() < 60
    page.locator(".table-scroller").evaluate("(e) => e.scrollTo(0, e.scrollHeight / 2)")
    settle(page)
    assert 1400 < int(rows(page)[5]["trial"]) < 1600
    assert page.locator(".trials tbody tr").count() < 60
    visitor.deleted = True
    cocabo.delete_study("long", storage=store)
    page.wait_for_selector("text=This study was deleted.")


# ---- several studies -------------------------------------------------------------------


def test_one_switches_between_studies(visitor):
    page = visitor.open()
    page.get_by_role("link", name="svm-seed-1").click()
    page.wait_for_selector("h1:text-is('svm-seed-1')")
    page.wait_for_selector(".uplot")
    page.get_by_role("link", name="cocabo").click()
    page.wait_for_selector("h1:text-is('Studies')")
    page.get_by_role("link", name="noisy").click()
    page.wait_for_selector("h1:text-is('noisy')")
    page.wait_for_selector(".uplot")
    page.go_back()
    page.wait_for_selector("h1:text-is('Studies')")


def test_studies_are_compared_and_repeats_become_a_band(visitor, store):
    page = visitor.open()
    assert page.locator("#compare").is_disabled()
    for seed in range(3):
        page.get_by_role("checkbox", name=f"compare svm-seed-{seed}").check()
    page.locator("#compare").click()
    page.wait_for_selector(".uplot")
    lines = page.locator(".compare-legend tbody tr").all_text_contents()
    assert len(lines) == 3
    for seed, line in enumerate(lines):
        assert f"{best_of(store, f'svm-seed-{seed}').value:.6g}" in line
    single = page.locator(".uplot canvas").evaluate("(c) => c.toDataURL()")
    page.get_by_role("button", name="median and band").click()
    page.wait_for_selector("text=svm (3 repeats)")
    settle(page)
    assert page.locator(".uplot canvas").evaluate("(c) => c.toDataURL()") != single
    page.get_by_role("button", name="by time").click()
    settle(page)
    assert "time since the study began" not in page.locator("h1").text_content()


def test_a_comparison_is_drawn_when_every_study_has_come(visitor):
    late = []
    visitor.page.route("**/svm-seed-1/history*", lambda route: late.append(route))
    page = visitor.open()
    with page.expect_request("**/svm-seed-1/history*"):
        page.goto(f"{visitor.address}#/compare/svm-seed-0,svm-seed-1")
    page.set_viewport_size({"width": 700, "height": 900})
    settle(page)
    assert page.locator(".uplot").count() == 0
    late.pop().continue_()
    page.wait_for_selector(".uplot")
    assert page.locator(".compare-legend tbody tr").count() == 2


# ---- looks -----------------------------------------------------------------------------


def ground(page):
    return page.evaluate("getComputedStyle(document.body).backgroundColor")


def test_light_and_dark_follow_the_system_and_the_button(chromium, server):
    visitor = Visitor(chromium, server.address, color_scheme="dark")
    page = visitor.study("svm")
    assert ground(page) == "rgb(19, 20, 21)"
    settle(page)
    assert inked(page, "History", "--marked") > 200
    dark = picture(page, "History")
    page.get_by_role("button", name="light or dark").click()
    settle(page)
    assert ground(page) == "rgb(247, 247, 245)"
    assert inked(page, "History", "--marked") > 200
    assert picture(page, "History") != dark
    page.reload()
    page.wait_for_selector(".uplot")
    assert ground(page) == "rgb(247, 247, 245)"
    visitor.end()


def test_a_phone_shows_one_column_without_scrolling_sideways(chromium, server):
    visitor = Visitor(chromium, server.address, viewport={"width": 390, "height": 844})
    for place in ["#/", "#/study/svm", "#/compare/svm-seed-0,svm-seed-1"]:
        page = visitor.open(place)
        settle(page)
        assert page.evaluate("document.documentElement.scrollWidth") <= 390, place
        boxes = page.evaluate(
            "[...document.querySelectorAll('.panel:not([hidden])')].map((p) => {"
            "const b = p.getBoundingClientRect(); return [b.left, b.right]; })")
        assert boxes and all(a >= 0 and b <= 390 and b - a > 340 for a, b in boxes), place
    visitor.end()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_serious(chromium, server, scheme):
    # The script of axe is injected, which the page's own policy forbids.
    visitor = Visitor(chromium, server.address, color_scheme=scheme, bypass_csp=True)
    for place in ["#/", "#/study/svm", "#/compare/svm-seed-0,svm-seed-1"]:
        page = visitor.open(place)
        settle(page)
        if "study" in place:
            page.wait_for_selector(".believed dd")
            page.get_by_role("searchbox").fill("value<0.2")
            page.wait_for_selector(".chip")
        found = Axe().run(page).response["violations"]
        bad = [(v["id"], [n["html"][:120] for n in v["nodes"][:3]]) for v in found
               if v["impact"] in ("serious", "critical")]
        assert bad == [], place
    visitor.end()


# ---- what must never happen -------------------------------------------------------------


def test_hostile_names_are_text(visitor):
    page = visitor.study(pictures.HOSTILE)
    assert page.locator("h1").text_content() == pictures.HOSTILE
    assert page.title() == f"{pictures.HOSTILE} – cocabo"
    for heading in ["Slices", "Categories over time", "Trials"]:
        see(page, heading)
    heads = page.locator(".trials thead th").all_text_contents()
    assert "rate $x_1$ <b>&amp;" in heads
    see(page, "Parallel coordinates")
    strip = page.get_by_role("slider").nth(1)
    assert strip.get_attribute("aria-label") == "selected range of rate $x_1$ <b>&amp;"
    assert page.locator("main b b, main script, main img").count() == 0
    assert page.locator("script").count() == 1
    page.get_by_role("searchbox").fill('"<i>" value<1e9')
    page.wait_for_selector(".chip")
    settle(page)
    assert "small <i>" in {r["net"] for r in rows(page)}


def test_no_request_leaves_the_server(visitor, server):
    visitor.study("svm")
    for heading in ["Two parameters", "Slices", "Trials"]:
        see(visitor.page, heading)
    visitor.open("#/compare/svm,noisy")
    settle(visitor.page)
    hosts = {urlparse(u).netloc for u in visitor.requests if not u.startswith("data:")}
    assert hosts == {urlparse(server.address).netloc}
    assert len(visitor.requests) > 10


def test_the_page_is_small_and_all_of_it_is_here():
    folder = BUILD / "http/page"
    files = {f.name: f.read_bytes() for f in folder.iterdir()}
    assert sorted(files) == ["index.html", "page.css", "page.js"]
    assert sum(map(len, files.values())) <= MOST_BYTES
    script = files["page.js"].decode()
    assert "</script" not in script and not re.search(r"^(import|export)\b", script, re.M)
    whole = b"\n".join(files.values()).decode()
    known = {"http://www.w3.org/2000/svg", "https://github.com/leeoniya/uPlot"}
    assert set(re.findall(r"https?://[\w./-]+", whole)) <= known
    assert not re.search(r"\b(eval|innerHTML|outerHTML|insertAdjacentHTML|document\.write)\b",
                         script)


# ---- copying ---------------------------------------------------------------------------


def test_the_best_is_copied_as_json_command_and_python(chromium, server, store, tmp_path):
    database = tmp_path / "copied.db"
    line = ["sh", "-c", 'echo "$1"', "name with space", "{x}", "--mode={mode}", "--depth", "{depth}"]
    subprocess.run(
        [PROGRAM, "run", "-q", "--storage", f"sqlite:///{database}", "--study", "shell", "-n", "6",
         "-p", "x=float(0,1)", "-p", "mode=choice(a,'it''s')", "-p", "depth=int(1,3) if x < 0", "--", *line],
        check=True, stdout=subprocess.DEVNULL)
    best = best_of(database, "shell")
    server = Server(database)
    visitor = Visitor(chromium, server.address, permissions=["clipboard-read", "clipboard-write"])
    page = visitor.study("shell")

    def copied(name):
        page.get_by_role("button", name=f"copy as {name}").click()
        expect(page.locator("#said")).to_have_text(f"copied as {name}")
        return page.evaluate("navigator.clipboard.readText()")

    expect(page.locator(".big strong")).to_have_text(f"{best.value:.6g}")
    settle(page)
    assert json.loads(copied("JSON")) == best.params
    assert ast.literal_eval(copied("Python").removeprefix("params = ")) == best.params
    words = shlex.split(copied("command line"))
    assert words == [*line[:4], repr(best.params["x"]), f"--mode={best.params['mode']}"]
    visitor.end()
    server.end()


# ---- a report --------------------------------------------------------------------------


@pytest.fixture(scope="module")
def report(store, tmp_path_factory):
    path = tmp_path_factory.mktemp("report") / "svm report.html"
    subprocess.run([PROGRAM, "report", "--storage", f"sqlite:///{store}", "--study", "svm",
                    "-q", "-o", path], check=True)
    return path


def test_a_report_opens_from_a_file_and_asks_nobody(chromium, report, store):
    visitor = Visitor(chromium, report.as_uri())
    page = visitor.open("")
    page.wait_for_selector(".uplot")
    assert page.locator("#live").text_content() == "report"
    assert page.locator("h1").text_content() == "svm"
    assert page.locator(".big strong").text_content() == f"{best_of(store, 'svm').value:.6g}"
    assert inked(page, "History", "--marked") > 200
    for heading in ["Parallel coordinates", "Two parameters", "Slices", "Trials"]:
        see(page, heading)
        assert heading == "Trials" or len(picture(page, heading)) > 1500
    assert page.locator(".bars li").count() == 6
    await_contour(page)
    drag_axis(page, 0, 0.72, 1.02)
    assert 0 < len(rows(page)) < 60
    assert [u for u in visitor.requests if not u.startswith(("file:", "data:"))] == []
    visitor.end()


def test_a_report_with_hostile_names_is_text(chromium, store, tmp_path):
    path = tmp_path / "hostile.html"
    subprocess.run([PROGRAM, "report", "--storage", f"sqlite:///{store}", "--study",
                    pictures.HOSTILE, "-q", "-o", path], check=True)
    visitor = Visitor(chromium, path.as_uri())
    page = visitor.open("")
    page.wait_for_selector(".uplot")
    see(page, "Trials")
    assert page.locator("h1").text_content() == pictures.HOSTILE
    assert page.locator("main script, main img").count() == 0
    visitor.end()


# ---- a token ---------------------------------------------------------------------------


def test_a_server_with_a_token_is_opened_with_it(chromium, store):
    token = "a-token-of-some-length-0123456789"
    server = Server(store, COCABO_TOKEN=token)
    visitor = Visitor(chromium, server.address)
    visitor.page.goto(server.address)
    visitor.page.wait_for_selector("#token")
    visitor.page.fill("#token", token)
    visitor.page.get_by_role("button", name="open").click()
    visitor.page.wait_for_selector(".studies tbody tr")
    visitor.page.get_by_role("link", name="noisy").click()
    visitor.page.wait_for_selector(".uplot")
    time.sleep(0.2)
    visitor.context.close()
    again = Visitor(chromium, server.address)
    page = again.open(f"#token={token}")
    page.wait_for_selector(".studies tbody tr")
    assert token not in page.url
    again.end()
    server.end()
