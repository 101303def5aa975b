import { runLonger } from './longer.ts'

runLonger('holder', {
  description:
    'Shoppers at two processes do whatever they like with one voucher of an Apparel21, while calls are late, lost and cut off. Judges that nobody ends the\nlock of who holds it, and that no more is drawn than there is.',
  file: 'test/apparel21/vouchers/holder.test.ts',
  options: { HOLDER_RUNS: ['runs', 'how many histories are played', 500] },
})
