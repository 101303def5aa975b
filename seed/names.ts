import { createItemDraw, type Random } from './random.ts'

/** Names of people of one origin. In a surname, `_` stands for a space. */
interface Names {
  weight: number
  women: readonly string[]
  men: readonly string[]
  surnames: readonly string[]
}

const createNames = (weight: number, women: string, men: string, surnames: string): Names => ({
  weight,
  women: women.split(' '),
  men: men.split(' '),
  surnames: surnames.split(' ').map(surname => surname.replaceAll('_', ' ')),
})

const origins: readonly Names[] = [
  createNames(
    36,
    'Olivia Charlotte Amelia Isla Grace Ruby Matilda Sophie Emily Hannah Georgia Lucy Zoe Jessica Sarah Rebecca Nicole Karen Susan Margaret Judith Heather Kylie Melissa Tahlia Bronte Imogen Phoebe Poppy Evelyn Frances Joan Kate Lauren Megan Rachel',
    'Oliver Jack William Noah Thomas Henry Lachlan Angus Hamish Liam Lucas Ethan Cooper Harrison Joshua Matthew Daniel Andrew Stephen Peter Graeme Trevor Neil Craig Brett Darren Scott Mitchell Callum Riley Jasper Archie Hugo Samuel Benjamin Robert',
    'Smith Jones Williams Brown Wilson Taylor Johnson White Martin Anderson Thompson Walker Harris Lee Ryan Robinson Kelly King Davis Wright Evans Roberts Green Hall Wood Jackson Clarke Hughes Edwards Turner Mitchell Campbell Stewart Murray Fraser Barlow Whitcombe Pascoe Trelawney Hargreaves Lockwood Ashby Thornbury Pemberton Holloway Winslow Fairbairn Radcliffe Dunstan Marchant',
  ),
  createNames(
    8,
    'Aoife Siobhán Niamh Róisín Ciara Sinéad Orla Maeve Gráinne Bridget Mairéad Éilis',
    'Declan Seán Cormac Padraig Eoin Oisín Fergus Rory Brendan Ciarán Donal Tadhg',
    "O'Brien O'Connor O'Sullivan O'Neill O'Reilly O'Donnell O'Shea D'Arcy McCarthy McKenna McGrath Gallagher Doherty Fitzgerald Byrne Kavanagh MacDonald MacLeod McIntyre Brannigan",
  ),
  createNames(
    7,
    'Aroha Anahera Hinemoa Kahurangi Mere Ngaire Marama Tūī Wikitōria Hana Kiri Moana Rāhera Whetū',
    'Tāne Rangi Wiremu Hēmi Tama Matiu Rāwiri Nikau Kauri Manaaki Tāmati Hōne Mikaere Pita',
    'Parata Ngata Tūhoro Te_Rangi Rēweti Hēnare Paewai Wātene Tāmihana Pōtae Te_Whare Kīngi Herewini Ruakere Tautahi Waitere Karaitiana Mākiha',
  ),
  createNames(
    8,
    'Linh Hương Thảo Mai Ngọc Lan Thủy Trang Phương Vy Hạnh Kim_Anh Bích Yến',
    'Minh Tuấn Hùng Dũng Quang Đức Bảo Khôi Thành Long Sơn Phúc Hải Việt',
    'Nguyễn Trần Lê Phạm Huỳnh Hoàng Phan Vũ Võ Đặng Bùi Đỗ Hồ Ngô Dương Lý',
  ),
  createNames(
    9,
    'Mei Xiu Li_Na Yan Jing Hui_Min Qing Ying Lan_Fang Yue Shu_Fen Xin_Yi Wei_Ling Ai_Ling',
    'Wei Jun Hao Ming Jian_Guo Bo Feng Zhi_Hao Kai_Wen Lei Tao Yong Chun_Hei Xiao_Long',
    'Wang Li Zhang Liu Chen Yang Huang Zhao Wu Zhou Xu Sun Ma Zhu Hu Guo Lin Luo Cheung Wong Chan Lau Leung Ng Tsai',
  ),
  createNames(
    6,
    'Fatima Layla Yasmin Amira Noor Huda Rania Samira Zaynab Maryam Salma Dalal',
    'Omar Ahmad Yusuf Khalid Hassan Tariq Karim Ibrahim Bilal Samir Ziad Mustafa',
    'Al-Masri Haddad Khoury Al-Rashid El-Sayed Nassar Hamdan Abdallah Saleh Mansour Karam Darwish Najjar Aziz Farah',
  ),
  createNames(
    9,
    'Priya Ananya Lakshmi Kavita Sunita Meera Divya Harpreet Simran Nisha Pooja Deepa Dilini Tharushi',
    'Arjun Rahul Sanjay Vikram Gurpreet Harjit Anil Rohan Suresh Karthik Nikhil Dinesh Kasun Nuwan',
    'Singh Kaur Patel Sharma Gupta Reddy Iyer Nair Menon Desai Joshi Chopra Bhatt Perera Fernando Jayawardena Wickramasinghe Rao Das Banerjee',
  ),
  createNames(
    7,
    'Eleni Sofia Maria Katerina Giulia Francesca Chiara Rosa Lucia Despina Vasiliki Antonella Zoë Noémie',
    'Nikolaos Dimitri Kostas Yiannis Marco Giuseppe Luca Salvatore Domenico Stavros Angelo Matteo Théo René',
    "Papadopoulos Georgiou Nikolaidis Pappas Karras Rossi Romano D'Angelo Ferrari Greco De_Luca Caruso Dell'Aquila Vella Borg Laurent Lefèvre",
  ),
  createNames(
    6,
    'Małgorzata Anna Katarzyna Ivana Jelena Milica Petra Ingrid Astrid Åsa Heidi Jurgita Zuzana Renée',
    'Piotr Wojciech Tomasz Zoran Dragan Milan Jürgen Stefan Björn Søren Lars Matthias Jiří Łukasz',
    'Kowalski Wójcik Nowak Petrović Jovanović Horvat Müller Schäfer Jensen Lindström Sørensen Van_der_Berg De_Vries Kovač Dvořák Weiß',
  ),
  createNames(
    4,
    'Sela Losa Talia Sina Leilani Mele Salote Tavita Malia Ana',
    'Sione Tavita Mosese Semisi Lima Fetu Viliami Pita Ioane Tomasi',
    "Taufa Faleolo Tuilagi Fonua Havili Leota Taumoepeau Vaipulu Fa'asavalu Seumalo Latu Naufahu",
  ),
  createNames(
    6,
    'María Lucía Camila Inês Gabriela Beatriz Luz Marisol Ji-woo Soo-jin Haruka Yuki',
    'José Andrés Mateo Tomás João Rafael Ramón Paolo Min-jun Ji-ho Kenta Ren',
    'García Rodríguez Muñoz Peña Gonçalves da_Silva Santos Reyes dela_Cruz Bautista Kim Park Choi Tanaka Suzuki Yamamoto',
  ),
]

const drawOrigin = createItemDraw(origins.map(group => [group, group.weight]))

/** The department in which a person mostly buys. */
export type Wearer = 'women' | 'men'

interface Person {
  firstname: string
  surname: string
  wears: Wearer
}

/** Draws a person. One in ten has a surname of another origin. */
export function drawPerson(random: Random): Person {
  const origin = drawOrigin(random)
  const family = random.chance(0.1) ? drawOrigin(random) : origin
  const wears = random.chance(0.58) ? 'women' : 'men'
  return { firstname: random.pick(origin[wears]).replaceAll('_', ' '), surname: random.pick(family.surnames), wears }
}

/** Letters that Unicode doesn't decompose into a base letter and a mark. */
const indivisibleLetters: Record<string, string> = { đ: 'd', ł: 'l', ø: 'o', ß: 'ss', æ: 'ae' }

/** Returns a name in the letters a to z, for addresses and codes. */
export const toPlainLetters = (name: string) =>
  name
    .normalize('NFD')
    .toLowerCase()
    .replace(/[đłøßæ]/g, letter => indivisibleLetters[letter] ?? '')
    .replace(/[^a-z]/g, '')
