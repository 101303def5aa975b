import { changeKinds, type Kind } from '../../domain/changes.ts'

export const recordTypesOption = [
  '--kinds <kinds>',
  `record types, separated by commas (default: all): ${changeKinds.join(', ')}`,
] as const

/** Parses a comma-separated list of record types. Throws if one doesn't exist. Returns undefined if there is no list. */
export function parseRecordTypes(words: string | undefined): readonly Kind[] | undefined {
  return words?.split(',').map(word => {
    const recordType = changeKinds.find(kind => kind === word)
    if (!recordType) throw new Error(`Record type ${word} not found. Types: ${changeKinds.join(', ')}.`)
    return recordType
  })
}
