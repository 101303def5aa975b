import type { Upserted } from '../../store/lists/change-timestamp.ts'

/** Remarks, each with its number of rows. */
export type Notes = Record<string, number>

/** Counts of rows. The remaining ones equal the stored record. */
export interface ImportCounts extends Upserted {
  read: number
  /** Rows that were neither stored nor rejected. `notes` has the reasons. */
  skipped: number
  rejected: number
  /** Records that left their list because a complete file lacks them. In a dry run: that would leave it. */
  removed: number
  /** Rows that were skipped because they are older than the stored record. */
  outdated: number
  notes: Notes
}

export const createCounts = (): ImportCounts => ({
  read: 0,
  inserted: 0,
  changed: 0,
  skipped: 0,
  rejected: 0,
  removed: 0,
  outdated: 0,
  notes: {},
})

export function note(notes: Notes, text: string, times = 1) {
  notes[text] = (notes[text] ?? 0) + times
}

export function addNotes(sum: Notes, notes: Readonly<Notes> = {}) {
  for (const [text, times] of Object.entries(notes)) note(sum, text, times)
}

export function addCounts(
  sum: ImportCounts,
  { read, inserted, changed, skipped, rejected, outdated, notes }: Omit<ImportCounts, 'removed'>,
) {
  sum.read += read
  sum.inserted += inserted
  sum.changed += changed
  sum.skipped += skipped
  sum.rejected += rejected
  sum.outdated += outdated
  addNotes(sum.notes, notes)
}
