import { pino } from 'pino'
import { createLogStream } from '../../telemetry/log-lines.ts'

/** Returns the log of a command: errors only, on standard error, one line each. */
export const createQuietLog = () => pino({ level: 'error', base: null }, createLogStream())
