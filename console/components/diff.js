import { html } from '../lib/html.js'

/** Longer texts are compared as a whole. */
const maxLength = 200

/** Returns the parts of two texts: those in both, and those in one of them. @param {string} from @param {string} to @returns {['same' | 'del' | 'ins', string][]} */
function compareTexts(from, to) {
  const [a, b] = [[...from], [...to]]
  if (a.length > maxLength || b.length > maxLength)
    return from === to
      ? [['same', from]]
      : [
          ['del', from],
          ['ins', to],
        ]
  const width = b.length + 1
  /** The length of the longest common subsequence of the rests that begin at i and j, at `i * width + j`. */
  const lengths = new Uint16Array((a.length + 1) * width)
  const getLength = (/** @type {number} */ i, /** @type {number} */ j) => lengths[i * width + j] ?? 0
  for (let i = a.length - 1; i >= 0; i--)
    for (let j = b.length - 1; j >= 0; j--)
      lengths[i * width + j] =
        a[i] === b[j] ? getLength(i + 1, j + 1) + 1 : Math.max(getLength(i + 1, j), getLength(i, j + 1))
  /** @type {['same' | 'del' | 'ins', string][]} */
  const parts = []
  const add = (/** @type {'same' | 'del' | 'ins'} */ kind, /** @type {string} */ text) => {
    const last = parts.at(-1)
    if (last?.[0] === kind) last[1] += text
    else parts.push([kind, text])
  }
  let [at, other] = [0, 0]
  while (at < a.length || other < b.length)
    if (at < a.length && other < b.length && a[at] === b[other]) {
      add('same', a[at++] ?? '')
      other++
    } else if (at < a.length && (other === b.length || getLength(at + 1, other) >= getLength(at, other + 1)))
      add('del', a[at++] ?? '')
    else add('ins', b[other++] ?? '')
  return parts
}

/** True if two texts have at least half of their characters in common, apart from case. @param {string} from @param {string} to */
export function areSimilar(from, to) {
  const [a, b] = [from.toLowerCase(), to.toLowerCase()]
  const common = compareTexts(a, b).reduce((sum, [kind, text]) => sum + (kind === 'same' ? text.length : 0), 0)
  return 2 * common >= Math.max(a.length, b.length)
}

/** Makes blanks visible. @param {string} text */
const showBlanks = text => text.replaceAll(' ', '␣').replaceAll('\u00a0', '⍽').replaceAll('\t', '⇥')

/** Two identifiers, in which the characters that differ are marked and their blanks are visible. @param {{ from: string, to: string }} props */
export function Diff({ from, to }) {
  const parts = compareTexts(from, to)
  return html`<span class="diff"><code>${parts.map(([kind, text]) => (kind === 'same' ? text : kind === 'del' && html`<del>${showBlanks(text)}</del>`))}</code> → <code>${parts.map(([kind, text]) => (kind === 'same' ? text : kind === 'ins' && html`<ins>${showBlanks(text)}</ins>`))}</code></span>`
}
