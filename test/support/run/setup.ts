import { fileURLToPath } from 'node:url'
import { openTestCluster, type TestCluster } from '../cluster.ts'

const compiled = fileURLToPath(new URL('../../../node_modules/.cache/tillbridge', import.meta.url))
let cluster: TestCluster

/** Before all test files: one PostgreSQL for those that need a database of their own and no server of their own; what one file has compiled the next one need not. */
export async function globalSetup() {
  cluster = await openTestCluster()
  process.env.TEST_DATABASE_URL = cluster.at('postgres')
  process.env.TEST_DATABASE_TEMPLATE = cluster.template
  process.env.NODE_COMPILE_CACHE = compiled
}

export const globalTeardown = () => cluster.close()
