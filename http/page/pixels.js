/* pixels.js - an image to write into, for thousands of points or hundreds of thin lines
 * at once: a canvas takes several times as long for them, half of it when the browser
 * shows the frame. */

/* "#8fa3b8" or "rgb(143,163,184)" as the word of an opaque pixel. */
export function pixelOf(colour) {
  const hex = colour[0] === "#";
  const parts = hex ? colour.match(/[0-9a-f]{2}/gi) : colour.match(/\d+/g);
  const [r, g, b] = parts.map((p) => parseInt(p, hex ? 16 : 10));
  return ((255 << 24) | (b << 16) | (g << 8) | r) >>> 0;
}

/* A pixel of which `part` of 256 is covered by a colour: red and blue at once, and
 * green. */
function blend(word, even, odd, part) {
  const rest = 256 - part;
  const two = (Math.imul(word & 0xff00ff, rest) + Math.imul(even, part)) | 0;
  const one = (Math.imul((word >>> 8) & 0xff, rest) + Math.imul(odd, part)) | 0;
  return -0x1000000 | ((two >>> 8) & 0xff00ff) | (one & 0xff00);
}

export class Pixels {
  /* Clears it: pixels of the screen, and the colour of the ground. */
  start(width, height, ground) {
    if (!this.image || this.image.width !== width || this.image.height !== height) {
      this.image = new ImageData(width, height);
      this.words = new Int32Array(this.image.data.buffer);
    }
    this.words.fill(pixelOf(ground));
    return this;
  }

  /* Lines from here on. */
  ink(colour) {
    const word = pixelOf(colour);
    this.even = word & 0xff00ff;
    this.odd = (word >>> 8) & 0xff;
  }

  /* One pixel wide; its ends are inside of the image. Each step along the longer side
   * shares a pixel between the two that are nearest, by parts of 256. Whole numbers of
   * 32 bits throughout, which is what makes it fast. */
  line(x0, y0, x1, y1) {
    const { words, even, odd } = this;
    const { width } = this.image;
    const steep = Math.abs(y1 - y0) > Math.abs(x1 - x0);
    const back = steep ? y1 < y0 : x1 < x0;
    const begin = steep ? (back ? y1 : y0) : back ? x1 : x0;
    const end = steep ? (back ? y0 : y1) : back ? x0 : x1;
    const other = steep ? (back ? x1 : x0) : back ? y1 : y0;
    const rise = steep ? (x1 - x0) / (y1 - y0) : (y1 - y0) / (x1 - x0);
    const slope = end > begin ? rise : 0;
    const first = Math.round(begin);
    const along = steep ? width : 1;
    const across = steep ? 1 : width;
    const step = Math.round(slope * 65536) | 0;
    let at = Math.round((other + (first - begin) * slope) * 65536) | 0;
    let k = Math.imul(first, along);
    for (let n = Math.round(end) - first; n > 0; n--) {
      const part = (at >> 8) & 255;
      const near = (k + Math.imul(at >> 16, across)) | 0;
      words[near] = blend(words[near], even, odd, 256 - part);
      words[near + across] = blend(words[near + across], even, odd, part);
      k = (k + along) | 0;
      at = (at + step) | 0;
    }
  }

  put(g, x = 0, y = 0) {
    g.putImageData(this.image, x, y);
  }
}
