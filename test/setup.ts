import { openTestCluster, type TestCluster } from './cluster.ts'

let cluster: TestCluster

/** Before all test files: one PostgreSQL for those that need a database of their own and no server of their own. */
export async function globalSetup() {
  cluster = await openTestCluster()
  process.env.TEST_DATABASE_URL = cluster.at('postgres')
  process.env.TEST_DATABASE_TEMPLATE = cluster.template
}

export const globalTeardown = () => cluster.close()
