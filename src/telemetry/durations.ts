import { createHistogram } from './samples.ts'

/** What this process has asked of its database, and of back offices. */
export const databaseDurations = createHistogram('db_client_operation_duration_seconds')
export const callDurations = createHistogram('http_client_request_duration_seconds')

/** Requests that the log of requests of this process had no room for, and lines that standard error had none for. */
export const droppedLogs = { requests: 0, lines: 0 }
