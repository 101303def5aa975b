import { runLongTest } from './long-test.ts'

runLongTest('stock-model', {
  description:
    'Random reservations, orders, shipments, cancellations, returns, exchanges, imports and syncs at two processes. Compares stock and orders with a\nmodel after each operation. A failure prints the seed and the shortest history.',
  file: 'test/api/orders/stock-model.test.ts',
  options: {
    STOCK_MODEL_RUNS: ['runs', 'number of histories', 300],
    STOCK_MODEL_SEED: ['seed', 'repeats the histories of an earlier run; 0 chooses a new seed', 0],
  },
})
