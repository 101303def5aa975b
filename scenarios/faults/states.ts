import { runLongTest } from './long-test.ts'

runLongTest('states', {
  description:
    'Thousands of orders are shipped and returned in an Apparel21 while the processes that sync them are killed. A client follows the change feed.\nChecks that it gets each shipment once, and each status of each return once.',
  file: 'test/apparel21/sync/states-killed.test.ts',
  options: {
    STATES_RECORDS: ['records', 'number of orders, each with a shipment and a return', 10_000],
    STATES_KILLS: ['kills', 'kills of each sync', 8],
  },
})
