import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { Job, JobRun } from './job.ts'

const cli = fileURLToPath(new URL('../cli.js', import.meta.url))

const [minute, hour] = [60, 3_600]

/**
 * Takes the scheduled backup of the control database or of a shard. It runs in a process of its own, because the CPU limit of backups
 * (`backup/throttle.ts`) applies to a complete process. It must not share the memory of requests either.
 */
const takeBackup =
  (intervalSeconds: number, shard: string | undefined) =>
  async ({ signal, log, reschedule }: JobRun): Promise<void> => {
    const began = performance.now()
    const args = [cli, 'backup', ...(shard === undefined ? [] : ['--shard', shard])]
    const { stderr } = await promisify(execFile)(process.execPath, args, { signal }).catch(error => {
      throw new Error(findMessage(error.stderr ?? '') ?? error.message)
    })
    const elapsedSeconds = (performance.now() - began) / 1_000
    const warning = findMessage(stderr)
    const fields = { database: shard ?? 'control', seconds: Math.round(elapsedSeconds), warning }
    log[warning === undefined ? 'info' : 'warn'](fields, 'backup stored')
    reschedule(Math.max(minute, intervalSeconds - elapsedSeconds))
  }

/** Returns the messages of a command on standard error, without its lines of progress. Returns undefined if there are none. */
function findMessage(stderr: string) {
  const start = stderr.search(/^tillbridge: /m)
  return start < 0
    ? undefined
    : stderr
        .slice(start)
        .replace(/^tillbridge: /gm, '')
        .trim()
}

/**
 * Postpones the job that is left after BACKUP_INTERVAL_HOURS was unset. An overdue job would be reported as if no worker ran. It isn't
 * deleted: workers with different settings would add it, due at once, again and again.
 */
const postpone: Job = { run: async ({ reschedule }) => reschedule(hour), concurrency: 1, retryDelaysSeconds: [minute] }

/** The job of scheduled backups. Without BACKUP_INTERVAL_HOURS the job is not added, and an existing one takes no backups. */
export const buildBackupJobs = (
  intervalHours: number | undefined,
  shard: string | undefined,
): Readonly<Record<string, Job>> => ({
  'take-backup':
    intervalHours === undefined
      ? postpone
      : {
          run: takeBackup(intervalHours * hour, shard),
          intervalSeconds: intervalHours * hour,
          concurrency: 1,
          retryDelaysSeconds: [minute, 10 * minute, hour, hour, hour, hour],
        },
})
