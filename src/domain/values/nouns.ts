/** Formats a number with its noun, such as `1 service` and `1,200 services`. The plural must end in `s`. */
export const countNoun = (count: number, noun: string) =>
  `${count.toLocaleString('en')} ${noun}${count === 1 ? '' : 's'}`
