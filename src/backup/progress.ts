/** Told, as a backup is written or read: how much of it so far, in bytes, and of how much if that is known. */
export type Progress = (progress: { bytes: number; size?: number }) => void
