const splitWords = (text: string): readonly string[] => text.split(' ').map(word => word.replaceAll('_', ' '))

export const firstnames = splitWords(
  'Olivia Amelia Isla Aroha Niamh Mei Priya Fatima Zoë Małgorzata Linh Sione Jack William Noah Declan Wiremu Minh Wei Omar Arjun Nikolaos Jürgen Søren Lachlan Charlotte Grace Ruby Sophie Hannah Lucy Sarah Karen Margaret Kylie Thomas Henry Angus Liam Peter Graeme Trevor Neil Anne-Marie Mary_Jane',
)

export const surnames = splitWords(
  "Smith Jones Williams Brown Wilson Taylor Nguyễn Trần O'Brien D'Arcy McKenna Wang Zhang Singh Patel Haddad Al-Masri Papadopoulos Rossi Kowalski Müller Sørensen Van_der_Berg Parata Te_Rangi Fa'asavalu García Tanaka Lee Ng Li Wu Campbell Stewart Murray Featherstonhaugh Barlow Pascoe Lockwood Thornbury Pemberton Winslow Marchant",
)

export const streets = splitWords(
  'High_St Station_Rd Church_St Victoria_Ave Beach_Rd Collins_St Queen_St Mill_Lane The_Esplanade Park_Tce',
)

/** City, state, postcode, country. */
export const places: readonly (readonly [string, string, string, string])[] = [
  ['MELBOURNE', 'VIC', '3000', 'AUSTRALIA'],
  ['GEELONG', 'VIC', '3220', 'AUSTRALIA'],
  ['SYDNEY', 'NSW', '2000', 'AUSTRALIA'],
  ['NEWCASTLE', 'NSW', '2300', 'AUSTRALIA'],
  ['BRISBANE', 'QLD', '4000', 'AUSTRALIA'],
  ['CAIRNS', 'QLD', '4870', 'AUSTRALIA'],
  ['ADELAIDE', 'SA', '5000', 'AUSTRALIA'],
  ['PERTH', 'WA', '6000', 'AUSTRALIA'],
  ['DARWIN', 'NT', '0800', 'AUSTRALIA'],
  ['HOBART', 'TAS', '7000', 'AUSTRALIA'],
  ['AUCKLAND', '', '1010', 'NEW ZEALAND'],
  ['CHRISTCHURCH', '', '8011', 'NEW ZEALAND'],
]

export const centres = splitWords('Central Arcade Airport Westfield Harbourside DFO Outlet Plaza Galleria Market')

export const fabrics = splitWords('LINEN COTTON MERINO DENIM SILK VELVET STRIPE CHECK RIB POPLIN CORD JERSEY')
export const cuts = splitWords('RELAXED SLIM CLASSIC CROPPED LONGLINE BOXY WIDE TAILORED V-NECK CREW')
export const garments = splitWords('TEE SHIRT DRESS JACKET CARDIGAN SKIRT PANT JEAN SHORT KNIT COAT HOODIE')
export const accessories = splitWords('SCARF BELT HAT TOTE SOCKS GLOVES')

/** Code and name. */
export const colourNames: readonly (readonly [string, string])[] = [
  ['BLK', 'Black'],
  ['WHT', 'White'],
  ['NVY', 'Navy'],
  ['GRY', 'Grey Marle'],
  ['RED', 'Red'],
  ['OLV', 'Olive'],
  ['B&W', 'Black & White'],
  ['SND', 'Sand'],
  ['PNK', 'Dusty Pink'],
]

/** Sizes by range: code and description. */
export const sizeRanges: readonly { name: string; sizes: readonly (readonly [string, string])[] }[] = [
  {
    name: 'S-L',
    sizes: [
      ['S', 'SMALL'],
      ['M', 'MEDIUM'],
      ['L', 'LARGE'],
    ],
  },
  {
    name: 'XS-XL',
    sizes: [
      ['XS', 'EXTRA SMALL'],
      ['S', 'SMALL'],
      ['M', 'MEDIUM'],
      ['L', 'LARGE'],
      ['XL', 'EXTRA LARGE'],
    ],
  },
  {
    name: '8-14',
    sizes: [
      ['8', '8'],
      ['10', '10'],
      ['12', '12'],
      ['14', '14'],
    ],
  },
]
