/** Thrown for a record that can't be converted. The message is for an operator and contains no data of the record. */
export class InvalidRecord extends Error {
  override name = 'InvalidRecord'
}

/** Converts records one by one. Returns the rows, and the reason for each rejected record. */
export function convertRecords<From, To>(records: readonly From[], convert: (record: From) => To) {
  const rows: To[] = []
  const rejected: string[] = []
  for (const record of records) {
    try {
      rows.push(convert(record))
    } catch (error) {
      if (!(error instanceof InvalidRecord)) throw error
      rejected.push(error.message)
    }
  }
  return { rows, rejected }
}
