import { pino } from 'pino'
import { logLines } from '../../telemetry/log-lines.ts'

/** Returns the log of a command: errors only, on standard error, one line each. */
export const quietLog = () => pino({ level: 'error', base: null }, logLines())
