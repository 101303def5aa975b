import { runLonger } from './longer.ts'

runLonger('guessing', {
  description:
    'Asks for vouchers that there are with wrong PINs, and for numbers that there are not, by turns. Judges that time does not tell the two apart: neither\nwhere the same numbers are asked for again and again, nor with new ones.',
  file: 'test/api/access/guessing.test.ts',
  test: 'an unknown number cannot be told from a wrong PIN by time',
  options: { PIN_TRIES: ['tries', 'how often each is asked for', 10_000] },
})
