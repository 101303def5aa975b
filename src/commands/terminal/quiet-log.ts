import { pino } from 'pino'

/** The log of a command: what went wrong, on standard error, a line each. */
export const quietLog = () => pino({ level: 'error', base: null }, pino.destination({ dest: 2, sync: true }))
