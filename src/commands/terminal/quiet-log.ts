import { pino } from 'pino'
import { logLines } from '../../telemetry/log-lines.ts'

/** The log of a command: what went wrong, on standard error, a line each. */
export const quietLog = () => pino({ level: 'error', base: null }, logLines())
