import { Text } from '../values/fields.ts'

export const carrier = Text('The carrier.', 'Australia Post', 100)
export const trackingNumber = Text('The tracking number of the parcel.', '33ABC1234567', 100)
export const trackingUrl = Text(
  'The page of the carrier that tracks the parcel.',
  'https://track.example.com/33ABC1234567',
  500,
)

/** True if a browser can open the page that tracks a parcel. */
export const isWebAddress = (url: string) => URL.canParse(url) && /^https?:$/.test(new URL(url).protocol)
