import manifest from '../../../package.json' with { type: 'json' }
import { findNewestBackup } from '../../backup/history.ts'
import { get } from '../../http/routing/route-definitions.ts'
import { compareMinor } from '../../postgres/minor-releases.ts'
import { countJobs, readJobLag } from '../../store/jobs/jobs.ts'
import { readDatabaseBytes, readServerVersion } from '../../store/stats/sync-status.ts'
import { consoleRoute } from './console-data.ts'

/** The installation: versions, workers, jobs of the service, its database, backups and the certificate. */
export const consoleSystem = [
  get(
    '/console/system',
    { ...consoleRoute, operationId: 'readSystem', tag: 'Service', role: 'admin', summary: 'Read the installation' },
    async ({ db, service, processInfo: { certificateExpiresAt, backupIntervalHours } }) => {
      const [versionNumber, bytes, lag, jobs, backup] = await Promise.all([
        readServerVersion(db),
        readDatabaseBytes(db),
        readJobLag(db),
        countJobs(db, service),
        findNewestBackup(db),
      ])
      const { version, newest, behind } = compareMinor(versionNumber)
      return {
        data: {
          version: manifest.version,
          node: process.versions.node,
          certificateExpiresAt: certificateExpiresAt().toISOString(),
          database: { version, newest, isOutdated: behind > 0, bytes },
          backup: { lastAt: backup?.at ?? null, intervalHours: backupIntervalHours ?? null },
          jobs: { ...lag, ...jobs },
        },
      }
    },
  ),
]
