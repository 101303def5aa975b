import type { Upserted } from '../../store/lists/change-timestamp.ts'

/** Remarks, each with the number of rows it holds for. */
export type Notes = Record<string, number>

/** What became of rows; the rest were there already, just so. */
export interface Taken extends Upserted {
  read: number
  refused: number
  notes: Notes
}

export const nothingTaken = (): Taken => ({ read: 0, inserted: 0, changed: 0, refused: 0, notes: {} })

export function note(notes: Notes, text: string, times = 1) {
  notes[text] = (notes[text] ?? 0) + times
}

export function addNotes(sum: Notes, notes: Readonly<Notes> = {}) {
  for (const [text, times] of Object.entries(notes)) note(sum, text, times)
}

export function addTaken(sum: Taken, { read, inserted, changed, refused, notes }: Taken) {
  sum.read += read
  sum.inserted += inserted
  sum.changed += changed
  sum.refused += refused
  addNotes(sum.notes, notes)
}
