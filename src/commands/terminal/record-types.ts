import { type Kind, kinds } from '../../domain/changes.ts'

export const kindsOption = [
  '--kinds <kinds>',
  `what is told of, separated by commas: ${kinds.join(', ')}; without it all`,
] as const

/** The kinds that were named; undefined where none were. Throws where one is none. */
export function kindsFrom(words: string | undefined): readonly Kind[] | undefined {
  return words?.split(',').map(word => {
    const found = kinds.find(kind => kind === word)
    if (!found) throw new Error(`There is no kind of record ${word}; there are: ${kinds.join(', ')}.`)
    return found
  })
}
