import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { Job, JobRun } from './job.ts'

const cli = fileURLToPath(new URL('../cli.js', import.meta.url))

const [minute, hour] = [60, 3_600]

/**
 * Takes the scheduled backup of the control database or of a shard. It is a process of its own, because `throttle` limits a complete process,
 * and a backup must not share the memory of requests.
 */
const takeBackup =
  (intervalSeconds: number, shard: string | undefined) =>
  async ({ signal, log, reschedule }: JobRun): Promise<void> => {
    const began = performance.now()
    const args = [cli, 'backup', ...(shard === undefined ? [] : ['--shard', shard])]
    try {
      await promisify(execFile)(process.execPath, args, { signal })
    } catch (error) {
      const { stderr = '' } = error as { stderr?: string }
      throw stderr ? new Error(stderr.trim().replace(/^tillbridge: /, '')) : error
    }
    const elapsedSeconds = (performance.now() - began) / 1_000
    log.info({ database: shard ?? 'control', seconds: Math.round(elapsedSeconds) }, 'backup stored')
    reschedule(Math.max(minute, intervalSeconds - elapsedSeconds))
  }

/** The job of scheduled backups, if BACKUP_INTERVAL_HOURS is set. */
export const buildBackupJobs = (
  intervalHours: number | undefined,
  shard: string | undefined,
): Readonly<Record<string, Job>> =>
  intervalHours === undefined
    ? {}
    : {
        'take-backup': {
          run: takeBackup(intervalHours * hour, shard),
          intervalSeconds: intervalHours * hour,
          concurrency: 1,
          retryDelaysSeconds: [minute, 10 * minute, hour, hour, hour, hour],
        },
      }
