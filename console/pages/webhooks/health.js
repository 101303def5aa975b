/** @type {Record<string, 'good' | 'bad' | 'warn'>} */
const tones = { active: 'good', failing: 'bad', paused: 'warn' }

/** @param {string} state */
export const getStateTone = state => tones[state]
