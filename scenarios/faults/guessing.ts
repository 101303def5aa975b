import { runLongTest } from './long-test.ts'

runLongTest('guessing', {
  description:
    'Looks up existing vouchers with wrong PINs and unknown numbers in turn. Checks that response times do not distinguish the two, neither for the\nsame numbers again and again nor for new ones.',
  file: 'test/api/access/guessing.test.ts',
  test: 'rejecting an unknown voucher number takes as long as a wrong PIN',
  options: { PIN_TRIES: ['tries', 'number of lookups of each', 10_000] },
})
