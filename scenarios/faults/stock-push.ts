import { runLongTest } from './long-test.ts'

runLongTest('stock-push', {
  description:
    'Kills the processes that push stock to an e-commerce platform, compare it and read its variants. Then no level is wrong, and stock that\nonly falls has never risen there. A failure prints the seed.',
  file: 'test/ecommerce/processes.test.ts',
  options: {
    STOCK_PUSH_KILLS: ['kills', 'number of kills', 200],
    STOCK_PUSH_SEED: ['seed', 'repeats an earlier run; 0 chooses a new seed', 0],
  },
})
