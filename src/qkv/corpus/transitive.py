"""Transitive verbs: who does it, to what, and where."""

from qkv.corpus.verb import WHO, Frame, Verb

__all__ = ["TRANSITIVE"]

HOME = "in:kitchen in:garden in:room in:house"
OUTSIDE = "in:park in:garden in:forest in:field"
LEARNING = "in:school in:library in:room"

TRANSITIVE = (
    Verb(
        "eat eats ate",
        "먹는다 먹었다 먹을 먹지",
        (
            Frame(WHO, "foods", "in:park in:school in:kitchen in:garden"),
            Frame("cat dog", "fish meat", "in:kitchen in:garden in:room"),
            Frame("bear", "fish meat apple", "in:forest in:river"),
            Frame("rabbit horse", "apple carrot", "in:garden in:field"),
        ),
    ),
    Verb(
        "drink drinks drank",
        "마신다 마셨다 마실 마시지",
        (
            Frame(WHO, "drinks", "in:park in:library in:kitchen in:room"),
            Frame("cat dog", "water milk", "in:kitchen in:garden"),
            Frame("bird rabbit bear horse", "water", "in:river in:lake"),
        ),
    ),
    Verb("write writes wrote", "쓴다 썼다 쓸 쓰지", (Frame(WHO, "book letter poem", LEARNING),)),
    Verb(
        "open opens opened",
        "연다 열었다 열 열지",
        (Frame(WHO, "door window box bag", "in:kitchen in:school in:room"),),
    ),
    Verb(
        "close closes closed",
        "닫는다 닫았다 닫을 닫지",
        (Frame(WHO, "door window box", "in:kitchen in:school in:room"),),
    ),
    Verb(
        "buy buys bought",
        "산다 샀다 살 사지",
        (Frame(WHO, "bread apple fish meat flower hat cup bag", "in:market"),),
    ),
    Verb(
        "sell sells sold",
        "판다 팔았다 팔 팔지",
        (Frame("farmer he she they we I", "apple carrot egg milk flower horse", "in:market"),),
    ),
    Verb(
        "like likes liked",
        "좋아한다 좋아했다 좋아할 좋아하지",
        (
            Frame(WHO, "animals bread cake tea song flower sea", ""),
            Frame("cat dog", "fish meat milk child girl boy", ""),
            Frame("rabbit horse", "apple carrot", ""),
        ),
        state=True,
    ),
    Verb(
        "watch watches watched",
        "지켜본다 지켜보았다 지켜볼 지켜보지",
        (Frame(WHO, "animals child", OUTSIDE), Frame("cat", "bird rabbit", "in:garden in:room")),
    ),
    Verb(
        "chase chases chased",
        "쫓는다 쫓았다 쫓을 쫓지",
        (
            Frame("dog", "cat rabbit bird ball child", OUTSIDE),
            Frame("cat", "bird ball rabbit", OUTSIDE),
            Frame("child girl boy they", "cat dog bird rabbit ball", "in:park in:garden in:field"),
        ),
    ),
    Verb(
        "cross crosses crossed",
        "건넌다 건넜다 건널 건너지",
        (Frame(f"{WHO} dog cat rabbit bear horse", "street river bridge field lake", ""),),
    ),
    Verb(
        "draw draws drew",
        "그린다 그렸다 그릴 그리지",
        (Frame(WHO, "animals apple flower tree house", "in:park in:garden in:school in:room"),),
    ),
    Verb(
        "wash washes washed",
        "씻는다 씻었다 씻을 씻지",
        (Frame(WHO, "apple carrot cup", "in:kitchen in:river"),),
    ),
    Verb(
        "make makes made",
        "만든다 만들었다 만들 만들지",
        (Frame(WHO, "bread cake juice hat chair table box", HOME),),
    ),
    Verb(
        "meet meets met",
        "만난다 만났다 만날 만나지",
        (Frame(WHO, "people", "in:park in:library in:market in:hospital"),),
    ),
    Verb(
        "help helps helped",
        "돕는다 도왔다 도울 돕지",
        (Frame(WHO, "people", "in:school in:market in:kitchen in:hospital"),),
    ),
    Verb(
        "hug hugs hugged",
        "껴안는다 껴안았다 껴안을 껴안지",
        (Frame(WHO, "cat dog rabbit child friend", "in:park in:garden in:room"),),
    ),
    Verb(
        "throw throws threw",
        "던진다 던졌다 던질 던지지",
        (Frame(WHO, "ball stone hat", "in:park in:garden in:field"),),
    ),
    Verb(
        "carry carries carried",
        "나른다 날랐다 나를 나르지",
        (
            Frame(WHO, "stone box chair table", "in:market in:school in:garden"),
            Frame("horse", "stone box bag table", "in:market in:field"),
        ),
    ),
    Verb(
        "sing sings sang",
        "부른다 불렀다 부를 부르지",
        (Frame(WHO, "song", "in:park in:school in:room in:field"),),
    ),
    Verb(
        "teach teaches taught",
        "가르친다 가르쳤다 가르칠 가르치지",
        (Frame("teacher he she they we I", "student child girl boy farmer", LEARNING),),
    ),
)
