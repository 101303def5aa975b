/** A record that cannot be taken as it is. The message is for an operator, and names no content. */
export class Untranslatable extends Error {
  override name = 'Untranslatable'
}

/** What becomes of records, one at a time: rows, and why some are rejected. */
export function translated<From, To>(records: readonly From[], translate: (record: From) => To) {
  const rows: To[] = []
  const rejected: string[] = []
  for (const record of records) {
    try {
      rows.push(translate(record))
    } catch (error) {
      if (!(error instanceof Untranslatable)) throw error
      rejected.push(error.message)
    }
  }
  return { rows, rejected }
}
