/** A word that the project does not use, and the word to use instead. Matched case-insensitively, as a whole word. */
export type Replacement = readonly [pattern: string, instead: string]

/** Private or archaic words, in any text that people read: documents, comments, messages, labels and test titles. */
export const replacements: readonly Replacement[] = [
  ['tells?|told|telling', 'report, return, send, log, show'],
  ['anew', 'again'],
  ['meanwhile', 'until then, at the same time'],
  ['beside', 'next to, in addition to'],
  ['by itself', 'automatically'],
  ['as (it|they) stands?', 'current'],
  ['stands? (in|at|on|there|still)', 'is in, hangs'],
  ['from then on', 'after that'],
  ['of before', 'previous'],
  ['letter by letter', 'exact, case-sensitive'],
  ['small letters', 'lowercase'],
  ['zeros in front', 'leading zeros'],
  ['comes? to nothing', 'fails'],
  ['(goes|gone|going|go|goes) on with', 'resume'],
  ['broken off|breaks? off|broke off', 'interrupted'],
  ['given up|gives? up|gave up', 'abandoned, stopped'],
  ['for good', 'permanently'],
  ['mends?|mended|mending', 'fix'],
  ['whole numbers?', 'integer'],
  ['whole lists?', 'bulk export'],
  ['shall', 'must'],
  ['e-mails?|e-mailed', 'email'],
  ['log of requests', 'request log'],
  ['feed of changes', 'change feed'],
  ['data databases?', 'shard'],
  ['head office', 'back office'],
  ['mapping doctor', 'mapping check'],
  ['(is|are|was|were|be|been|being) asked', 'request, query'],
  ['refus(e|es|ed|ing|als?)', 'reject'],
  ['judg(e|es|ed|ing|ements?)|judgments?', 'validate, check, evaluate'],
  ['settl(e|es|ed|ing)', 'reconcile, resolve'],
  ['horizons?', 'watermark'],
  ['standstill', 'hang'],
  ['patience', 'timeout'],
  ['verdicts?', 'check result'],
  ['deeds?', 'operation'],
  ['whoever|whomever|whosoever', 'name the actor'],
  ['nobody|somebody', 'name the actor'],
  ['nothing but|none but|nobody but', 'only'],
  ['takes? in|taken in|took in', 'import, ingest'],
  ['carr(y|ies|ied|ying) out', 'execute, run'],
  ['at a time when', 'while'],
  ['ladder', 'layers'],
  ['comes? again|came again', 'retry, repeat'],
  ['without an end', 'endless'],
  ['lets? go of', 'release'],
  ['there is none', 'it does not exist'],
  ['(one|that|those) of (ours|theirs|its own|one.s own)', 'name the thing'],
]

/** Sentences that begin with one of these hide their subject. Questions may. */
export const headlessStarts = [
  'what',
  'whatever',
  'who',
  'whoever',
  'whom',
  'whose',
  'where',
  'wherever',
  'whether',
  'nobody',
  'somebody',
  'of',
]

export const maxSentenceWords = 30

/** The longest title of a test, in words. */
export const maxTitleWords = 12

/** Words that names don't contain, because the glossary in contributing/writing.md has another one for the same thing. */
export const privateNameWords: ReadonlySet<string> = new Set(
  `anew asked asking beside deed deeds hasten horizon judge judged judges mended mine mishap moment moments ours patience
  portion portions refusal refusals refuse refused settled settling sieve standing tell telling theirs told unsaid verdict
  wanted whom`.split(/\s+/),
)
