/** @type {Record<string, 'good' | 'bad' | 'warn'>} */
const tones = { active: 'good', failing: 'bad', paused: 'warn' }

/** The colour of the state of an endpoint. @param {string} state */
export const getStateTone = state => tones[state]
