/** The colour of a status: ours to mend, theirs to mend, well. @param {number} status @returns {'good' | 'bad' | 'warn'} */
export const toneOf = status => (status >= 500 ? 'bad' : status >= 400 ? 'warn' : 'good')

/** Milliseconds in words. @param {number} milliseconds */
export const took = milliseconds => `${milliseconds.toLocaleString('en', { maximumFractionDigits: 1 })} ms`
