/**
 * Detects the code page of a text that is not UTF-8 by its words. A word is plausible if its letters belong to one language and its capitals
 * are where capitals can be. For example, `Иван` is plausible in Windows-1251, and the same bytes in Windows-1252 (`Èâàí`) are not.
 */

export type Confidence = 'high' | 'medium' | 'low'

interface CodePage {
  /** A label of the Encoding Standard. */
  label: string
  /** True if a word, in lowercase, can be one of a language of this code page. */
  isWord(word: string): boolean
  /** The bytes of frequent characters: nearly all pairs of bytes are some character of an East Asian code page. */
  bytes?: RegExp
}

/** A word of one of the languages. */
const matchLanguages =
  (...languages: RegExp[]) =>
  (word: string) =>
    languages.some(language => language.test(word))

const german = /^[a-zäöüßé]+$/
const estonian = /^[abd-pr-vzäöõüšž]+$/
/** Languages of Windows-1252, each with its own letters. Letters that occur in some places only are tested there. */
const western = matchLanguages(
  german,
  /^[a-zàâæçéèêëîïôœùûüÿ]+$/, // French, Dutch
  /^(?:[a-záéíóúüïç]|ñ(?=[aeiouáéíóú]))+$/, // Spanish, Irish
  /^[a-zàçéèíïóòúü]+$/, // Catalan
  /^(?:[a-záâàçéêíóôúü]|ã(?=[oeis]|$)|õ(?=e))+$/, // Portuguese
  /^[a-z]+[àèéìòù]$/, // Italian
  /^[a-zåäöæøéèêüôà]+$/, // Danish, Norwegian, Swedish
  /^[abd-pr-vzäöõüšžå]+$/, // Finnish, Estonian
  /^[a-zéèëïöüê]+$/, // Dutch
)
const icelandic = matchLanguages(/^(?!ð)(?:[abd-pr-vxyáéíóúýæöð]|þ(?=[aeiouyáéíóúýæörvj]))+$/)
const cyrillic = matchLanguages(/^[а-яёіїєґўђјљњћџѓќѝ]+$/)
const greek = matchLanguages(/^(?:[α-ρσ-ωάέήίόύώϊϋΐΰ]|ς$)+$/)
const han = matchLanguages(/^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}ー々]+$/u)

const windows1252 = [
  { label: 'windows-1252', isWord: western },
  { label: 'windows-1252', isWord: icelandic },
]

const otherPages: readonly CodePage[] = [
  {
    label: 'windows-1250',
    isWord: matchLanguages(
      /^[a-ząćęłńóśźż]+$/, // Polish
      /^[a-záäčďéěíĺľňóôŕřšťúůýž]+$/, // Czech, Slovak
      /^[a-záéíóöőúüű]+$/, // Hungarian
      /^[a-zčćđšž]+$/, // Croatian, Slovenian
      /^[a-zăâîşţ]+$/, // Romanian
      german,
    ),
  },
  { label: 'windows-1251', isWord: cyrillic },
  { label: 'koi8-r', isWord: cyrillic },
  { label: 'ibm866', isWord: cyrillic },
  { label: 'iso-8859-5', isWord: cyrillic },
  { label: 'windows-1253', isWord: greek },
  // A capital İ has the combining dot U+0307 in lowercase.
  { label: 'windows-1254', isWord: word => /^[a-zçğıöşüâîû]+$/.test(word.replaceAll('\u0307', '')) },
  { label: 'windows-1257', isWord: matchLanguages(/^[a-ząčęėįšųūž]+$/, /^[a-zāčēģīķļņšūž]+$/, estonian) },
  { label: 'windows-1255', isWord: matchLanguages(/^[א-ת][\u05b0-\u05c7א-ת]*$/) },
  { label: 'windows-1256', isWord: matchLanguages(/^\p{Script=Arabic}+$/u) },
  {
    label: 'windows-874',
    isWord: matchLanguages(
      /^(?![\u0e30-\u0e3a\u0e45-\u0e4e])(?:[\u0e40-\u0e44](?=[\u0e01-\u0e2e])|[\u0e01-\u0e3a\u0e45-\u0e4e])+$/,
    ),
  },
  { label: 'macintosh', isWord: western },
  { label: 'shift_jis', isWord: han, bytes: /^(?:[\x82\x83\x88-\x98].|\x81[\x58\x5b])+$/s },
  { label: 'euc-jp', isWord: han, bytes: /^(?:[\xa4\xa5\xb0-\xcf].)+$/s },
  { label: 'gb18030', isWord: han, bytes: /^(?:[\xb0-\xd7][\xa1-\xfe])+$/ },
  { label: 'big5', isWord: han, bytes: /^(?:[\xa4-\xc6][\x40-\x7e\xa1-\xfe])+$/ },
  { label: 'euc-kr', isWord: matchLanguages(/^\p{Script=Hangul}+$/u), bytes: /^(?:[\xb0-\xc8][\xa1-\xfe])+$/ },
]

/** Maximum words of a sample that are checked. More would not change the result. */
const maxWords = 500
const maxWordBytes = 64
const maxCandidates = 6

/** The words of a text with bytes beyond ASCII, by bytes. Digits and most of ASCII's punctuation separate words in all code pages. */
const listWords = (sample: Buffer) =>
  sample
    .toString('latin1')
    .split(/[^\x40-\xff]+/)
    .filter(word => /[\x80-\xff]/.test(word))
    .slice(0, maxWords)
    .map(word => word.slice(0, maxWordBytes))

/** Signs next to or between words, and units. */
const signs =
  /[\u00a0\u2013\u2014\u2019·…|~{}[\]^_`@\\]|^[“‘„«¡¿(©]{1,8}|[®™©”’»]{1,8}$|^µ[a-z]{1,2}$|^(?:[mck]?m|in|ft)[²³]$|^\p{L}{1,2}[ºª]$|^°[CF]$|^[€£¥§°½¼¾±×ºª]{1,8}$/giu
/** Capitals at the beginning, throughout, or behind a prefix such as Mc. */
const hasCaseOfWord = (word: string) => /^(?:\p{Lu}?[^\p{Lu}]*(?:[A-Z][^\p{Lu}]+)*|[\p{Lu}ß]+)$/u.test(word)

interface Score {
  words: number
  plausible: number
  example: string
}

/** Counts the words beyond ASCII that are plausible in a code page. */
function score({ label, isWord, bytes }: CodePage, words: readonly string[]): Score {
  const decoder = new TextDecoder(label)
  const result: Score = { words: 0, plausible: 0, example: '' }
  for (const word of words) {
    const text = decoder.decode(Buffer.from(word, 'latin1'))
    for (const part of text.replace(signs, ' ').split(' ')) {
      if (!/\P{ASCII}/u.test(part)) continue
      result.words++
      const isPlausible = hasCaseOfWord(part) && isWord(part.toLowerCase()) && (bytes === undefined || bytes.test(word))
      if (!isPlausible) continue
      result.plausible++
      result.example ||= part
    }
  }
  return result
}

/** At least this share of the words is plausible if the code page is the right one: files also contain foreign names. */
const minShare = 0.8
const share = ({ words, plausible }: Score) => (words ? plausible / words : 1)

/** Returns how certain it is that the sample is in Windows-1252; undefined if its words are none. */
export function computeWindows1252Confidence(sample: Buffer): Confidence | undefined {
  const words = listWords(sample)
  const [best] = windows1252.map(page => score(page, words)).sort((a, b) => share(b) - share(a))
  if (!best || share(best) < minShare) return
  if (best.words < 3 || share(best) < 0.95) return 'low'
  return best.words < 10 ? 'medium' : 'high'
}

/** Returns the code pages in which the words of the sample are plausible, each with one of its words, the likeliest first. */
export function findCodePages(sample: Buffer): { label: string; example: string }[] {
  const words = listWords(sample)
  return otherPages
    .map(page => ({ label: page.label, ...score(page, words) }))
    .filter(scored => scored.words > 0 && share(scored) >= minShare)
    .sort((a, b) => share(b) - share(a))
    .slice(0, maxCandidates)
    .map(({ label, example }) => ({ label, example }))
}
