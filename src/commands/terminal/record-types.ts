import { type Kind, kinds } from '../../domain/changes.ts'

export const kindsOption = [
  '--kinds <kinds>',
  `record types, separated by commas (default: all): ${kinds.join(', ')}`,
] as const

/** The kinds that were named; undefined where none were. Throws where one is none. */
export function kindsFrom(words: string | undefined): readonly Kind[] | undefined {
  return words?.split(',').map(word => {
    const found = kinds.find(kind => kind === word)
    if (!found) throw new Error(`Record type ${word} not found. Types: ${kinds.join(', ')}.`)
    return found
  })
}
