/** Receives the bytes that were written or read so far, and the total if it is known. */
export type Progress = (progress: { bytes: number; size?: number }) => void
