import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { openTestCluster, type TestCluster } from '../cluster.ts'
import { createDirectoryInMemory } from './memory.ts'
import { recordTimes } from './times.ts'

const compiled = fileURLToPath(new URL('../../../node_modules/.cache/tillbridge', import.meta.url))
let cluster: TestCluster
let installations: string

/**
 * Runs before all test files. Starts one PostgreSQL for tests that need a database but no separate server, and shares the
 * compile cache between files.
 */
export async function globalSetup() {
  const memory = createDirectoryInMemory()
  if (memory) process.env.TMPDIR = memory
  cluster = await openTestCluster()
  process.env.TEST_DATABASE_URL = cluster.toDirectUrl('postgres')
  process.env.TEST_DATABASE_TEMPLATE = cluster.template
  process.env.NODE_COMPILE_CACHE = compiled
  process.env.POSTGRES_BIN_DIR = 'bundled'
  installations = mkdtempSync(join(tmpdir(), 'tillbridge-installations-'))
  // PostgreSQL does not run as root, so other users must be able to enter the directory.
  chmodSync(installations, 0o711)
  process.env.TEST_INSTALLATIONS = installations
}

export async function globalTeardown() {
  if (cluster.pid !== undefined) recordTimes('PostgreSQL, of all files', cluster.pid)
  await cluster.close()
  rmSync(installations, { recursive: true, force: true })
}
