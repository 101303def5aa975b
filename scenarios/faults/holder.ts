import { runLongTest } from './long-test.ts'

runLongTest('holder', {
  description:
    'Shoppers at two processes use one voucher of an Apparel21 in any order, while calls are late, lost and cut off. Checks that no shopper ends the\nlock of another, and that no more is drawn than the balance.',
  file: 'test/apparel21/vouchers/holder.test.ts',
  options: { HOLDER_RUNS: ['runs', 'number of histories', 500] },
})
