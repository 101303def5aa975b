import { createHistogram } from './samples.ts'

/** Durations of this process's database statements and back-office calls. */
export const databaseDurations = createHistogram('db_client_operation_duration_seconds')
export const callDurations = createHistogram('http_client_request_duration_seconds')

/** Counts requests that were dropped from the request log, and log lines that standard error did not accept. */
export const droppedLogs = { requests: 0, lines: 0 }
