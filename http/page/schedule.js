/* schedule.js - who is drawn when. A view has draw() and an element; what is out of
 * sight waits until it is seen, and a frame draws only as much as fits into it, so that
 * brushing stays smooth however many charts there are. */

/* Of one frame. A view is never cut in two, and what it draws costs as much again when
 * the browser puts it on the screen. */
const FRAME = 8; /* milliseconds */
const MOST_VIEWS = 2;
const SLOW = 33; /* milliseconds: after such a frame the next ones draw one view each */

const waiting = new Set();
const views = new WeakMap(); /* element: view */
let asked = 0;
let slow = false;

const sight = new IntersectionObserver(
  (entries) => {
    for (const entry of entries) {
      const view = views.get(entry.target);
      if (view) view.seen = entry.isIntersecting;
    }
    ask();
  },
  { rootMargin: "150px" },
);

const sizes = new ResizeObserver((entries) => {
  for (const entry of entries) {
    const view = views.get(entry.target);
    const width = Math.round(entry.contentRect.width);
    if (!view || width === view.width || width === 0) continue;
    view.width = width;
    redraw(view);
  }
});

function ask() {
  if (!asked && waiting.size > 0) asked = requestAnimationFrame(drawSome);
}

function drawSome() {
  asked = 0;
  const begun = performance.now();
  const end = begun + FRAME;
  const most = slow ? 1 : MOST_VIEWS;
  let left = false;
  let drawn = 0;
  for (const view of waiting) {
    if (!view.seen || !view.width) continue;
    if (drawn++ === most || performance.now() > end) {
      left = true;
      break;
    }
    waiting.delete(view);
    view.draw();
  }
  /* A timer comes after the browser has put the frame on the screen. */
  if (drawn > 0) setTimeout(() => (slow = performance.now() - begun > SLOW), 0);
  if (left) ask();
}

/* Draws the view in one of the next frames; many calls are one. */
export function redraw(view) {
  waiting.add(view);
  ask();
}

export function watch(view, element) {
  views.set(element, view);
  view.width = Math.round(element.clientWidth);
  sight.observe(element);
  sizes.observe(element);
}

export function unwatch(view, element) {
  waiting.delete(view);
  views.delete(element);
  sight.unobserve(element);
  sizes.unobserve(element);
}
