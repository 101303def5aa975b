import { split } from 'sentence-splitter'
import { headlessStarts, maxSentenceWords, replacements } from './words.ts'

/** A problem in a text, which begins at the character `index`. */
export interface Finding {
  message: string
  index: number
}

const words = replacements.map(([pattern, instead]) => ({
  regex: new RegExp(`(?<![\\w-])(?:${pattern})(?![\\w-])`, 'gi'),
  instead,
}))
const headless = new RegExp(`^(?:${headlessStarts.join('|')})\\b`, 'i')
/** Code, quotations, addresses and headers are not our sentences. */
const notProse = /`[^`\n]*`|"[^"\n]*"|https?:\S+|\{@?[^}\n]*\}/g

/** Returns the problems of a text in plain English: unused words, hidden subjects, long sentences. */
export function checkProse(text: string): Finding[] {
  const masked = text.replace(notProse, code => (code.length > 1 ? `X${'_'.repeat(code.length - 1)}` : code))
  const findings: Finding[] = []
  for (const { regex, instead } of words)
    for (const match of masked.matchAll(regex))
      findings.push({ message: `"${match[0]}": write ${instead}`, index: match.index })
  for (const node of split(masked)) {
    if (node.type !== 'Sentence') continue
    const sentence = node.raw.trim()
    if (headless.test(sentence) && !/\?$|^What to do\b/.test(sentence) && /\s/.test(sentence))
      findings.push({ message: `sentence begins with "${headless.exec(sentence)?.[0]}"`, index: node.range[0] })
    const count = sentence.split(/\s+/).filter(word => /\w/.test(word)).length
    if (count > maxSentenceWords) findings.push({ message: `sentence of ${count} words`, index: node.range[0] })
  }
  return findings
}

/** True if a message states a requirement as if it were a fact: "The name has at most 50 characters." */
export function statesRule(message: string): boolean {
  return message
    .split(/(?<=[.!?])\s+/)
    .some(sentence => rule.test(sentence) && !/\b(must|can't|cannot|can)\b/.test(sentence))
}
const rule =
  /\b(is|are) (a|an|one|either|of|from|at (least|most)|between|between|only|always|never|not negative|positive|later than|earlier than|needed|written(?! to\b))\b[^.]*\b(to|or|characters?|digits?|letters?|than|bytes?)\b|\b(has|have) (at (least|most)|from|between|one to|no more than|only)\b|\bhas to\b|\b(is|are) (given|named|written|needed) (by|as|in|with|for|if)\b/i
